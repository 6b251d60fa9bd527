// Plays the pages as a reader would: keys, buttons, slider, a click into the grid; light, dark, on a phone.
//
// node page.mjs FOLDER_OF_PAGES [FOLDER_FOR_SCREENSHOTS]
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

/** Opens a page that may ask for nothing but itself, and say nothing on its console. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (request) => request.url().startsWith("file:") || wrong.push(`asks for ${request.url()}`));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  const url = pathToFileURL(join(pages, `${name}.html`)).href;
  await page.goto(url);
  const step = async () => Number((await page.locator("#place").textContent()).match(/^step (\d+) of/)[1]);
  const close = async (shot) => {
    if (shots && shot) await page.screenshot({ path: join(shots, `${shot}.png`), fullPage: false });
    if (shots && shot) await page.screenshot({ path: join(shots, `${shot}-whole.png`), fullPage: true });
    assert.deepEqual(wrong, [], `${name} is at peace`);
    await context.close();
  };
  return { page, step, close };
}

/** The page is no wider than the screen. */
async function fits(page) {
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= screen, `${wide} pixels wide on a screen of ${screen}`);
}

async function keysButtonsAndGrid() {
  const { page, step, close } = await open("sum", { colorScheme: "light" });
  await fits(page);
  assert.equal(await step(), 1);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), 3);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await step(), 2);
  await page.click("#on");
  assert.equal(await step(), 3);
  await page.keyboard.press("End");
  const all = await step();
  assert.ok(all > 100, `${all} steps`);
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), all, "there is nothing after the end");
  await page.click("#first");
  assert.equal(await step(), 1);
  await page.click("#back");
  assert.equal(await step(), 1, "nor before the start");

  // The first access is of the array, 16 bytes a lane; the second block's part of 1000 elements ends within its fourth warp.
  await page.keyboard.press("PageDown");
  assert.match(await page.locator("#events").textContent(), /reads x: 4 requests, 61 sectors/);
  assert.equal(await page.locator("#memory svg.global").count(), 4);
  assert.equal(await page.locator("#lanes rect.work").count(), 122);
  assert.match(await page.locator("#ptx").textContent(), /ld\.global/);
  assert.match(await page.locator("tr.here code").textContent(), /\S/);
  // Then shared memory: one word or two of a bank from each warp.
  for (let k = 0; k < 50 && !(await page.locator("#memory svg.shared").count()); k++) await page.keyboard.press("PageDown");
  assert.ok((await page.locator("#memory svg.shared").count()) > 0, "banks are shown");
  assert.equal(await page.locator("#memory svg.shared").first().locator("rect.idle").count(), 32);
  const shared = await step();
  await page.click("#before");
  assert.ok((await step()) < shared);

  // The cursor stands over the step, and a click goes there.
  const box = await page.locator("#grid").boundingBox();
  await page.locator("#scroll").evaluate((view) => (view.scrollLeft = 0));
  await page.locator("#grid").click({ position: { x: 7 * 11 + 3, y: Math.min(20, box.height - 1) } });
  assert.equal(await step(), 12);
  assert.equal(await page.locator("#cursor").getAttribute("x"), String(7 * 11));
  await page.locator("#slider").fill("40");
  assert.equal(await step(), 41);

  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press(" ");
  await page.waitForFunction(() => /^step 4[4-9]/.test(document.getElementById("place").textContent));
  await page.keyboard.press(" ");
  const paused = await step();
  await page.waitForTimeout(500);
  assert.equal(await step(), paused, "it stands still");
  await page.keyboard.press("Home");
  await page.keyboard.press("PageDown");
  await close("light");
}

async function dark() {
  const { page, close } = await open("sum", { colorScheme: "dark" });
  const [paper, ink] = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    const light = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
    return [light(style.backgroundColor), light(style.color)];
  });
  assert.ok(paper < 60 && ink > 180, `light ink (${ink}) on dark paper (${paper})`);
  for (let k = 0; k < 50 && !(await page.locator("#memory svg.shared").count()); k++) await page.keyboard.press("PageDown");
  await close("dark");
}

async function phone() {
  const { page, step, close } = await open("sum", {
    viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, colorScheme: "light",
  });
  await fits(page);
  await page.locator("#on").tap();
  await page.locator("#after").tap();
  assert.ok((await step()) > 2);
  const size = await page.locator("#on").boundingBox();
  assert.ok(size.width >= 40 && size.height >= 40, "a finger hits a button");
  await page.locator("#steps").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.getElementById("steps").scrollIntoView());
  await close("phone");
}

async function withoutScript() {
  const { page, close } = await open("sum", { javaScriptEnabled: false });
  assert.ok((await page.locator("#verdicts li").count()) >= 8);
  assert.ok((await page.locator("#grid path").count()) > 4);
  assert.ok((await page.locator(".source tr").count()) > 20);
  await close();
}

/** A rung of the ladder: what it is stands above, and its bank conflicts are told where they happen. */
async function rung() {
  const { page, step, close } = await open("rung", { colorScheme: "light" });
  await fits(page);
  assert.match(await page.locator("body").innerText(), /The same tree, folded by the first threads/);
  const events = page.locator("#events");
  // In the first step of the tree two lanes of a warp want each bank.
  for (let k = 0; k < 9 && !/wavefronts for/.test(await events.textContent()); k++) await page.keyboard.press("PageDown");
  assert.match(await events.textContent(), /reads shared: 4 wavefronts for 2/);
  assert.ok((await step()) > 10);
  await close("rung");
}

async function others() {
  for (const name of ["argmax", "empty"]) {
    const { page, step, close } = await open(name);
    await fits(page);
    await page.keyboard.press("End");
    assert.ok((await step()) > 20);
    await close(name);
  }
}

try {
  for (const test of [keysButtonsAndGrid, dark, phone, withoutScript, rung, others]) {
    await test();
    console.log(`${test.name}: passed`);
  }
} finally {
  await browser.close();
}
