// Filters, legends, hover, tables. The page is complete without it; this only hides, sorts and reveals.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Theme: what the system says, until the button was used; then what was chosen, if it can be remembered.
  const remembered = (() => { try { return localStorage.getItem('trilobite-theme'); } catch { return null; } })();
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const themeButton = document.getElementById('theme');
  const nameTheme = () => { themeButton.textContent = dark() ? 'Light' : 'Dark'; };
  if (remembered) root.dataset.theme = remembered;
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem('trilobite-theme', root.dataset.theme); } catch { /* a file:// page may have no storage */ }
    nameTheme();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', nameTheme);
  nameTheme();

  // Hover: the <title> of a mark or rule, in a box of our own that shows at once and on touch too.
  const tip = document.getElementById('tip');
  const textOf = (element) => {
    const title = element.querySelector(':scope > title');
    if (title) { element.dataset.tip = title.textContent; title.remove(); }
    return element.dataset.tip || '';
  };
  let pointer;
  const showTip = (event) => {
    pointer = event;
    const mark = document.elementFromPoint(event.clientX, event.clientY)?.closest('.m, .r');
    const text = mark && textOf(mark);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + 'px';
    tip.style.top = (event.clientY + 18 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10)
                                                                   : event.clientY + 18) + 'px';
  };
  for (const kind of ['pointermove', 'pointerdown']) document.addEventListener(kind, showTip, {passive: true});
  // The page moves below a mouse that rests; a finger is gone.
  document.addEventListener('scroll', () => {
    if (pointer?.pointerType === 'mouse') showTip(pointer);
    else tip.hidden = true;
  }, {passive: true});

  // Legend: a key hides and shows its series in every rendering of its chart.
  document.addEventListener('click', (event) => {
    const key = event.target.closest('.legend button');
    if (!key) return;
    const on = key.getAttribute('aria-pressed') !== 'true';
    key.setAttribute('aria-pressed', on);
    for (const series of all('[data-series]', key.closest('figure')))
      if (series.dataset.series === key.dataset.key) series.toggleAttribute('hidden', !on);
  });

  // Tables: one state each, drawn anew after every change.
  const tables = all('table[data-page]').map((table) => {
    const state = {table, body: table.tBodies[0], rows: [...table.tBodies[0].rows], page: 0, size: +table.dataset.page, words: []};
    const tools = table.closest('.table').querySelector('.tools');
    state.count = tools.querySelector('.count');
    state.pager = tools.querySelector('.pager');
    tools.hidden = false;
    tools.querySelector('input').addEventListener('input', (event) => {
      state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
      state.page = 0;
      drawTable(state);
    });
    for (const [step, button] of all('button', state.pager).entries())
      button.addEventListener('click', () => { state.page += step === 0 ? -1 : 1; drawTable(state); });
    return state;
  });
  const matches = (state, row) => !row.filteredOut &&
      (state.words.length === 0 || state.words.every((word) => (row.words ??= row.textContent.toLowerCase()).includes(word)));
  const drawTable = (state) => {
    for (const detail of all('tr.detail', state.body)) closeDetail(detail.previousElementSibling);
    const found = state.rows.filter((row) => matches(state, row));
    const pages = Math.max(1, Math.ceil(found.length / state.size));
    state.page = Math.min(Math.max(0, state.page), pages - 1);
    const shown = new Set(found.slice(state.page * state.size, (state.page + 1) * state.size));
    for (const row of state.rows) row.hidden = !shown.has(row);
    state.count.textContent = found.length === state.rows.length ? `${found.length} rows` : `${found.length} of ${state.rows.length} rows`;
    state.pager.hidden = pages === 1;
    state.pager.querySelector('span').textContent = `${state.page + 1} / ${pages}`;
    const [previous, next] = all('button', state.pager);
    previous.disabled = state.page === 0;
    next.disabled = state.page === pages - 1;
  };
  const sortKey = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.trim() : cell.dataset.v === '' ? NaN : +cell.dataset.v;
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number'
      ? (isNaN(a) - isNaN(b) || a - b) : String(a).localeCompare(String(b), 'en', {numeric: true});
  document.addEventListener('click', (event) => {
    const head = event.target.closest('th button')?.parentElement;
    const state = head && tables.find((one) => one.table === head.closest('table'));
    if (!state) return;
    const falling = head.getAttribute('aria-sort') === 'ascending';
    for (const other of head.parentElement.cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    for (const detail of all('tr.detail', state.body)) closeDetail(detail.previousElementSibling);
    const keys = new Map(state.rows.map((row) => [row, sortKey(row, head.cellIndex)]));
    // What has no figure stays last, whichever way the rest is sorted.
    const missing = (key) => typeof key === 'number' && isNaN(key);
    state.rows.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      return missing(x) || missing(y) ? missing(x) - missing(y) : falling ? compare(y, x) : compare(x, y);
    });
    state.body.append(...state.rows);
    drawTable(state);
  });

  // Details of a benchmark are made when they are asked for.
  const closeDetail = (row) => {
    row.nextElementSibling.remove();
    row.querySelector('.open').setAttribute('aria-expanded', 'false');
  };
  const openDetail = (row) => {
    const detail = document.createElement('tr');
    detail.className = 'detail';
    detail.insertCell().colSpan = row.cells.length;
    detail.cells[0].append(document.getElementById('d' + row.id.slice(1)).content.cloneNode(true));
    row.after(detail);
    row.querySelector('.open').setAttribute('aria-expanded', 'true');
  };
  document.addEventListener('click', (event) => {
    const row = event.target.closest('.open')?.closest('tr');
    if (row) (row.nextElementSibling?.className === 'detail' ? closeDetail : openDetail)(row);
  });

  // A link to a benchmark turns its table to the right page and opens the details.
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#b"]');
    const row = link && document.getElementById(link.hash.slice(1));
    const state = row && tables.find((one) => one.body === row.parentElement);
    if (!state) return;
    event.preventDefault();
    resetFilters();
    state.words = [];
    state.table.closest('.table').querySelector('input').value = '';
    state.page = Math.floor(state.rows.indexOf(row) / state.size);
    drawTable(state);
    openDetail(row);
    row.scrollIntoView({block: 'center'});
    row.querySelector('.open').focus({preventScroll: true});
  });

  // Filters by suite, device and type: `data-k` holds the three numbers of whatever has them.
  const selects = all('select[data-facet]');
  const resetFilters = () => { for (const select of selects) select.value = ''; applyFilters(); };
  const applyFilters = () => {
    const wanted = selects.map((select) => select.value);
    const fits = (element) => {
      const own = element.dataset.k.split(' ');
      return wanted.every((value, i) => value === '' || value === own[i]);
    };
    for (const mark of all('.m[data-k]')) if (mark.dataset.k) mark.toggleAttribute('hidden', !fits(mark));
    for (const figure of all('figure')) {
      const marks = all('.m[data-k]', figure);
      figure.hidden = marks.length > 0 && marks.every((mark) => mark.hasAttribute('hidden'));
    }
    for (const line of all('.line')) line.toggleAttribute('hidden', all('.m', line.parentElement).every((mark) => mark.hasAttribute('hidden')));
    for (const state of tables) {
      for (const row of state.rows) row.filteredOut = row.dataset.k !== undefined && !fits(row);
      state.page = 0;
      drawTable(state);
    }
  };
  for (const select of selects) select.addEventListener('change', applyFilters);
  document.getElementById('reset').addEventListener('click', () => resetFilters());
  document.getElementById('scale').addEventListener('change', (event) => { root.dataset.scale = event.target.value; });
  document.getElementById('filters').hidden = false;
  for (const state of tables) drawTable(state);
})();
