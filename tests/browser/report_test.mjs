// The report as a person meets it: opened in Chromium, clicked, filtered, sorted, on a phone, in the dark, on paper.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';
import {HtmlValidate} from 'html-validate';
import {chromium} from 'playwright-core';
import {HOSTILE, hostile, large, measured, record, rich, unmeasured} from './records.mjs';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
               '--disable-component-update', '--disable-sync'];
const folder = mkdtempSync(join(tmpdir(), 'trilobite-report-'));
const pictures = join(process.cwd(), 'screenshots');
mkdirSync(pictures, {recursive: true});
let browser;

before(async () => { browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: FLAGS}); });
after(async () => {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
});

/// Writes the record, makes the report, returns its path.
function reportOf(name, data, ...flags) {
  const input = join(folder, `${name}.json`);
  writeFileSync(input, JSON.stringify(data));
  const output = join(folder, `${name}.html`);
  execFileSync(process.env.TRILOBITE, ['report', '--input', input, '--output', output, ...flags], {stdio: 'pipe'});
  return output;
}

/// A page of the file; anything that it complains about fails the test that closes it.
async function open(path, {width = 1200, height = 1000, colorScheme = 'light'} = {}) {
  const page = await browser.newPage();
  page.complaints = [];
  page.on('console', (message) => page.complaints.push(message.text()));
  page.on('pageerror', (error) => page.complaints.push(error.message));
  page.on('request', (request) => { if (!request.url().startsWith('file:')) page.complaints.push(request.url()); });
  await page.setViewportSize({width, height});
  await page.emulateMedia({colorScheme});
  await page.goto(`file://${path}`);
  return page;
}

async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.close();
}

const visible = (page, selector) => page.locator(`${selector}:visible`);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function seriousProblems(page) {
  // The page's own policy forbids foreign scripts, so axe comes in through the debugger.
  await page.evaluate(readFileSync(join(process.cwd(), 'node_modules/axe-core/axe.min.js'), 'utf8'));
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  return violations.filter((one) => ['serious', 'critical'].includes(one.impact))
      .map((one) => `${one.id}: ${one.nodes.length} x ${one.nodes[0].html.slice(0, 160)}`);
}

describe('a rich record', () => {
  let path;
  before(() => {
    const baseline = join(folder, 'baseline.json');
    writeFileSync(baseline, JSON.stringify({...rich({factor: 0.7}), id: 'before'}));
    path = reportOf('rich', rich(), '--baseline', baseline);
  });

  test('has every section, and charts with a mark per value', async () => {
    const page = await open(path);
    for (const id of ['summary', 'recommendations', 'comparison', 'times', 'scaling', 'roofline', 'accuracy', 'memory', 'latency', 'regression',
                      'benchmarks', 'environment', 'method'])
      assert.equal(await page.locator(`section#${id}`).count(), 1, id);
    assert.equal(await visible(page, '#times figure:has(bdi:text-is("matrix/matmul f32")) .m').count(), 12);
    assert.equal(await visible(page, '#times figure:has(bdi:text-is("matrix/matmul f16")) .m').count(), 8);
    assert.equal(await visible(page, '#comparison figure .m').count(), 8 + 4);
    assert.equal(await visible(page, '#roofline .m').count(), 20);
    assert.equal(await visible(page, '#accuracy .m').count(), 4);
    assert.match(await page.locator('#summary').innerText(), /25 of 30 benchmarks/);
    assert.match(await page.locator('#summary').innerText(), /target missed/);
    assert.match(await page.locator('#regression').innerText(), /REGRESSED|CRITICAL|critical/i);
    await page.screenshot({path: join(pictures, 'light.png')});
    await page.screenshot({path: join(pictures, 'light-whole.png'), fullPage: true});
    await close(page);
  });

  test('hovering a mark shows its value and interval', async () => {
    const page = await open(path);
    await visible(page, '#times .m .mark').first().hover({force: true});  // its own whisker lies above it
    await page.locator('#tip').waitFor({state: 'visible'});
    assert.match(await page.locator('#tip').innerText(), /reference: .* \(95 %: .* to .*\)/);
    await page.evaluate(() => scrollBy(0, 3000));  // the mark leaves the resting mouse, and comes back
    await page.locator('#tip').waitFor({state: 'hidden'});
    await page.evaluate(() => scrollBy(0, -3000));
    await page.locator('#tip').waitFor({state: 'visible'});
    await close(page);
  });

  test('a key of the legend hides its series and shows it again', async () => {
    const page = await open(path);
    const marks = visible(page, '#times figure:has(bdi:text-is("matrix/matmul f32")) .m');
    const key = page.locator('#times figure:has(bdi:text-is("matrix/matmul f32")) .legend button', {hasText: 'openblas'});
    await key.click();
    assert.equal(await marks.count(), 8);
    assert.equal(await key.getAttribute('aria-pressed'), 'false');
    await key.click();
    assert.equal(await marks.count(), 12);
    await close(page);
  });

  test('filters reach charts and tables, and reset', async () => {
    const page = await open(path);
    const rows = visible(page, '#benchmarks tbody tr');
    assert.equal(await rows.count(), 25);
    await page.selectOption('select[data-facet=device]', {label: 'cpu'});
    assert.equal(await visible(page, '#times figure:has(bdi:text-is("matrix/matmul f32")) .m').count(), 4);
    await page.selectOption('select[data-facet=type]', {label: 'f16'});
    assert.equal(await visible(page, '#times figure:has(bdi:text-is("matrix/matmul f32"))').count(), 0);
    assert.equal(await rows.count(), 4);
    await page.selectOption('select[data-facet=suite]', {label: 'formats'});
    assert.equal(await rows.count(), 0);
    await page.click('#reset');
    assert.equal(await rows.count(), 25);
    await close(page);
  });

  test('the scale switches between logarithmic and linear', async () => {
    const page = await open(path);
    assert.equal(await visible(page, '#times rect.mark').count(), 0);
    await page.selectOption('#scale', 'linear');
    assert.ok(await visible(page, '#times rect.mark').count() >= 20);
    await close(page);
  });

  test('tables sort both ways, search and turn pages', async () => {
    const page = await open(path);
    const cells = async () => (await visible(page, '#benchmarks tbody td:nth-child(2)').evaluateAll(
        (all) => all.map((cell) => cell.dataset.v).filter(Boolean).map(Number)));
    const head = page.locator('#benchmarks th button', {hasText: /^median$/});
    await head.click();
    let values = await cells();
    assert.deepEqual(values, [...values].sort((a, b) => a - b));
    await head.click();
    values = await cells();
    assert.ok(values.length > 20);
    assert.deepEqual(values, [...values].sort((a, b) => b - a));
    await page.locator('#benchmarks .pager button').last().click();
    assert.match(await page.locator('#benchmarks .pager').innerText(), /2 \/ 2/);
    await page.fill('#benchmarks input[type=search]', 'softmax');
    assert.equal(await visible(page, '#benchmarks tbody tr').count(), 1);
    await close(page);
  });

  test('a benchmark opens to its distribution, from its row and from evidence', async () => {
    const page = await open(path);
    await page.locator('#benchmarks .open').first().click();
    assert.equal(await visible(page, '#benchmarks tr.detail svg.dist .dust').count(), 1);
    await page.locator('#benchmarks .open').first().click();
    assert.equal(await page.locator('#benchmarks tr.detail').count(), 0);
    await page.locator('#summary a[href^="#b"]').last().click();
    assert.equal(await visible(page, '#benchmarks tr.detail').count(), 1);
    await page.screenshot({path: join(pictures, 'detail.png')});
    await close(page);
  });

  test('is dark when the system is, and when it is asked to be', async () => {
    const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const page = await open(path, {colorScheme: 'dark'});
    const dark = await background(page);
    await page.screenshot({path: join(pictures, 'dark.png')});
    assert.deepEqual(await seriousProblems(page), []);
    await page.click('#theme');
    const light = await background(page);
    assert.notEqual(dark, light);
    await page.click('#theme');
    assert.equal(await background(page), dark);
    await page.evaluate(() => localStorage.clear());
    await close(page);
  });

  test('fits a phone', async () => {
    const page = await open(path, {width: 390, height: 844});
    assert.equal(await overflow(page), 0);
    await page.screenshot({path: join(pictures, 'phone.png')});
    await page.screenshot({path: join(pictures, 'phone-whole.png'), fullPage: true});
    const font = await visible(page, '#times svg.chart text').first().evaluate((text) => text.getBoundingClientRect().height);
    assert.ok(font >= 10, `labels are ${font} px high`);
    await close(page);
  });

  test('prints', async () => {
    const page = await open(path);
    const pdf = await page.pdf({path: join(pictures, 'print.pdf'), format: 'A4'});
    assert.ok(pdf.length > 10000);
    await page.emulateMedia({media: 'print'});
    assert.equal(await visible(page, '.bar').count(), 0);
    await page.setViewportSize({width: 794, height: 1123});
    await page.screenshot({path: join(pictures, 'print.png')});
    assert.equal(await overflow(page), 0);
    await close(page);
  });

  test('has no serious accessibility problem', async () => {
    const page = await open(path);
    assert.deepEqual(await seriousProblems(page), []);
    await close(page);
  });

  test('is valid HTML', async () => {
    const validator = new HtmlValidate({extends: ['html-validate:standard'], rules: {'no-inline-style': 'off', 'long-title': 'off', 'no-raw-characters': 'off'}});
    const result = await validator.validateString(readFileSync(path, 'utf8'));
    const messages = result.results.flatMap((one) => one.messages.map((message) => `${message.line}:${message.column} ${message.ruleId}: ${message.message}`));
    assert.deepEqual([...new Set(messages)].slice(0, 10), []);
  });
});

test('hostile names are text', async () => {
  const page = await open(reportOf('hostile', hostile()));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('img').count(), 0);
  const text = await page.evaluate(() => document.body.textContent);
  for (const name of HOSTILE.slice(0, 3)) assert.ok(text.includes(name), name);
  await page.setViewportSize({width: 390, height: 844});
  assert.equal(await overflow(page), 0);
  await page.screenshot({path: join(pictures, 'hostile-phone.png')});
  await close(page);
});

describe('poor records make sensible pages', () => {
  const names = {suite: 's', operation: 'o', dtype: 'f32', device: 'cpu', shape: '8'};
  const cases = {
    empty: [record([]), /holds no benchmarks/],
    failures: [record([unmeasured(names, 'failed', 'wrong output'), unmeasured({...names, shape: '9'}, 'timeout', 'too slow')]), /2 failed or timed out/],
    skipped: [record([unmeasured(names, 'skipped', 'no such device')]), /0 of 1 benchmarks/],
    single: [record([measured(names, [100])]), /Fewer than six samples/],
    'summary only': [record([{...measured(names, [100]), samples_ns: [], samples_per_round: []}]), /A summary without its samples/],
    'no time': [record([{...measured(names, [100]), samples_ns: [], samples_per_round: [], statistics_ns: null}]), /0 of 1 benchmarks/],
  };
  for (const [name, [data, expected]] of Object.entries(cases)) {
    test(name, async () => {
      const page = await open(reportOf(name, data), {width: 390, height: 844});
      assert.match(await page.locator('#summary').innerText(), expected);
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await seriousProblems(page), []);
      await close(page);
    });
  }
});

test('5,000 benchmarks with 100 samples each stay usable', async () => {
  const path = reportOf('large', large());
  assert.ok(statSync(path).size < 15e6, `${statSync(path).size} bytes`);
  const page = await open(path);
  assert.equal(await visible(page, '#benchmarks tbody tr').count(), 25);
  await page.fill('#benchmarks input[type=search]', 'suite_3 operation_5 cpu 12x12');
  assert.equal(await visible(page, '#benchmarks tbody tr').count(), 2);
  await page.locator('#benchmarks .open:visible').first().click();
  assert.equal(await visible(page, 'svg.dist').count(), 1);
  await page.selectOption('select[data-facet=device]', {label: 'cpu'});
  await page.screenshot({path: join(pictures, 'large.png')});
  await close(page);
});
