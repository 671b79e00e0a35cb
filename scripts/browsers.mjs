// Headless Chromium and Firefox behind one small interface, with WebGPU on, and with a time limit on everything asked of them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tool } from './setup.mjs';
import { root } from './shell.mjs';

const options = JSON.parse(readFileSync(join(root, 'webdriver.json'), 'utf8'));

function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Browsers print favicon misses as errors of the page. */
const isNoise = (text) => /favicon\.ico/.test(text);

/** `open` also takes a dark colour scheme, a touch screen, and a function to run `first` in the page. */
async function chromium() {
  const { chromium: driver } = await import('playwright-core');
  const browser = await within(
    60,
    'starting Chromium',
    driver.launch({
      executablePath: tool.chromium(),
      args: options['goog:chromeOptions'].args,
      timeout: 60_000,
    }),
  );

  async function open(url, { width = 1280, height = 800, dark = false, touch = false, first } = {}) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      hasTouch: touch,
      isMobile: touch,
    });
    const page = await context.newPage();
    if (first) await page.addInitScript(first);
    const problems = [];
    const note = (text) => isNoise(text) || problems.push(text);
    page.on('pageerror', (error) => note(`uncaught: ${error.message}`));
    page.on(
      'console',
      (message) =>
        ['error', 'warning'].includes(message.type()) && note(`console ${message.type()}: ${message.text()} (${message.location().url})`),
    );
    await page.goto(url, { timeout: 60_000 });
    return {
      problems,
      evaluate: (f, arg, seconds = 60) => within(seconds, 'the page', page.evaluate(f, arg)),
      screenshot: (path) => page.screenshot({ path, fullPage: true, timeout: 60_000 }),
      close: () => within(30, 'closing the page', context.close()),
    };
  }
  return { name: 'Chromium', version: browser.version(), open, close: () => within(30, 'closing Chromium', browser.close()) };
}

async function firefox() {
  const { Builder, Browser } = await import('selenium-webdriver');
  const { Options, ServiceBuilder } = await import('selenium-webdriver/firefox.js');
  const { args, prefs } = options['moz:firefoxOptions'];
  const settings = new Options()
    .setBinary(tool.firefox())
    .addArguments(...args)
    .enableBidi();
  for (const [name, value] of Object.entries(prefs)) settings.setPreference(name, value);
  const service = new ServiceBuilder(tool.geckodriver());
  const driver = await within(
    90,
    'starting Firefox',
    new Builder().forBrowser(Browser.FIREFOX).setFirefoxOptions(settings).setFirefoxService(service).build(),
  );

  // One window: WebDriver has no pages side by side, so the tests of a file take turns.
  let problems = [];
  const note = (text) => isNoise(text) || problems.push(text);
  const { LogInspector } = await import('selenium-webdriver/bidi/logInspector.js').then((module) => ({ LogInspector: module.default }));
  const log = await within(30, 'opening the log', LogInspector(driver));
  await log.onConsoleEntry((entry) => ['error', 'warn', 'warning'].includes(entry.level) && note(`console ${entry.level}: ${entry.text}`));
  await log.onJavascriptException((entry) => note(`uncaught: ${entry.text}`));

  async function open(url, { width = 1280, height = 800 } = {}) {
    problems = [];
    await driver
      .manage()
      .window()
      .setRect({ width, height: height + 85 });
    await within(60, 'loading the page', driver.get(url));
    return {
      problems,
      async evaluate(f, arg, seconds = 60) {
        await driver.manage().setTimeouts({ script: seconds * 1000 });
        const source = `return (${f})(arguments[0])`;
        return within(seconds + 10, 'the page', driver.executeScript(source, arg));
      },
      async screenshot(path) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, await driver.takeScreenshot(), 'base64');
      },
      close: () => within(30, 'leaving the page', driver.get('about:blank')),
    };
  }
  const version = (await driver.getCapabilities()).getBrowserVersion();
  return { name: 'Firefox', version, open, close: () => within(30, 'closing Firefox', driver.quit()) };
}

export const browsers = { chromium, firefox };
