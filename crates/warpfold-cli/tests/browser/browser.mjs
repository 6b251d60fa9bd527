// A headless browser for the tests of pages: each may ask for nothing but itself, and say nothing on its console.
//
// node TEST.mjs FOLDER_OF_PAGES [FOLDER_FOR_SCREENSHOTS]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, shots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: execFileSync("sh", ["-c", "command -v chromium"]).toString().trim(),
  args: ["--no-sandbox"],
});

/** Opens a page of the folder; `close` takes its screenshots and fails if it was not at peace. */
export async function open(name, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (request) => request.url().startsWith("file:") || wrong.push(`asks for ${request.url()}`));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  await page.goto(pathToFileURL(join(pages, `${name}.html`)).href + hash);
  const close = async (shot) => {
    if (shots && shot) await page.screenshot({ path: join(shots, `${shot}.png`), fullPage: false });
    if (shots && shot) await page.screenshot({ path: join(shots, `${shot}-whole.png`), fullPage: true });
    assert.deepEqual(wrong, [], `${name} is at peace`);
    await context.close();
  };
  return { page, close };
}

/** The page is no wider than the screen. */
export async function fits(page) {
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= screen, `${wide} pixels wide on a screen of ${screen}`);
}

/** How light a colour is, from 0 to 255. */
export const lightness = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;

export async function lightInkOnDarkPaper(page) {
  const colors = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color];
  });
  const [paper, ink] = colors.map(lightness);
  assert.ok(paper < 60 && ink > 180, `light ink (${ink}) on dark paper (${paper})`);
}

/** Runs tests, and ends the browser whatever becomes of them. */
export async function play(tests) {
  try {
    for (const test of tests) {
      await test();
      console.log(`${test.name}: passed`);
    }
  } finally {
    await browser.close();
  }
}
