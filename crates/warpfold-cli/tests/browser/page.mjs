// Plays the pages as a reader would: keys, buttons, slider, a click into the grid; light, dark, on a phone.
//
// node page.mjs FOLDER_OF_PAGES [FOLDER_FOR_SCREENSHOTS]
import assert from "node:assert/strict";
import { fits, lightInkOnDarkPaper, open as openPage, play } from "./browser.mjs";

/** Opens a page and tells where it stands. */
async function open(name, options = {}) {
  const opened = await openPage(name, options);
  const place = opened.page.locator("#place");
  return { ...opened, step: async () => Number((await place.textContent()).match(/^step (\d+) of/)[1]) };
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
  await lightInkOnDarkPaper(page);
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

/** Where the kernel stands, and the roof above it. */
const standing = (page) => page.evaluate(() => {
  const of = (id, name) => document.getElementById(id).getAttribute(name);
  return { x: Number(of("roof-dot", "cx")), y: Number(of("roof-dot", "cy")), top: Number(of("roof-gap", "y1")), roof: of("roof-line", "points") };
});
const microseconds = async (page) => Number((await page.locator("#time").textContent()).match(/: ([\d.]+) µs/)[1]);

/** The roofline moves with every slider, and its kernel never stands above the roof. */
async function roofline() {
  const { page, step, close } = await open("roof", { colorScheme: "light" });
  await fits(page);
  const time = page.locator("#time"), slider = (name) => page.locator(`#dial-${name}`);
  assert.match(await time.textContent(), /^GeForce RTX 3090, blocks of 256, \d+ elements a thread \(its own\): /);
  const first = await standing(page), own = await microseconds(page);
  await slider("device").fill("6");
  assert.match(await time.textContent(), /^H200, blocks of 256/);
  const other = await standing(page);
  assert.notEqual(other.roof, first.roof, "another GPU has other roofs");
  assert.ok(other.y < first.y && (await microseconds(page)) < own, "and is faster");
  // Four elements a thread: blocks are started all the time, so that the kernel stands lower and takes longer.
  const fast = await microseconds(page);
  await slider("items").fill("1");
  assert.match(await time.textContent(), /blocks of 256, 4 elements a thread: /);
  assert.ok((await microseconds(page)) > fast);
  assert.ok((await standing(page)).x > other.x, "more instructions for each byte");
  // With the keys of a slider, which do not play the steps.
  await slider("block").focus();
  await page.keyboard.press("ArrowLeft");
  assert.match(await time.textContent(), /blocks of 128, 4 elements/);
  assert.equal(await step(), 1);
  await page.keyboard.press("Home");
  assert.match(await time.textContent(), /blocks of 32, 4 elements.* held up by latency \(\d+ % of the time\)/);
  assert.match(await page.locator("#limits .binds").textContent(), /^latency/);
  assert.equal(await page.locator("#limits li").count(), 9);
  assert.match(await page.locator("#fastest").textContent(), /^Fastest on the H200: blocks of \d+, \d+ elements a thread/);
  const places = await page.evaluate(() => JSON.parse(document.getElementById("roof-data").textContent).points);
  assert.equal(places.length, 7 * 6 * 12);
  assert.ok(places.every(({ at }) => at && at[1] >= at[2] - 0.2), "none is above its roof");
  await page.locator("#time-title").evaluate((heading) => heading.scrollIntoView());
  await close("roof");

  const dark = await open("roof", { colorScheme: "dark" });
  await lightInkOnDarkPaper(dark.page);
  await dark.page.locator("#time-title").evaluate((heading) => heading.scrollIntoView());
  await dark.close("roof-dark");
  const phone = await open("roof", { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
  await fits(phone.page);
  const size = await phone.page.locator("#dial-block").boundingBox();
  assert.ok(size.width >= 200 && size.height >= 40, "a finger holds a slider");
  await phone.page.locator("#time-title").evaluate((heading) => heading.scrollIntoView());
  await phone.close("roof-phone");
}

/** Where a GPU cannot run a kernel, the page says so; what the model does not know has no roofline. */
async function withoutTimes() {
  const newest = await open("newest");
  assert.ok(await newest.page.locator("#roof-dot").isVisible());
  await newest.page.locator("#dial-device").fill("2");
  assert.match(await newest.page.locator("#time").textContent(), /RTX 3090.*compute capability is 8\.6, and this needs 9\.0/);
  assert.ok(!(await newest.page.locator("#roof-dot").isVisible()) && !(await newest.page.locator("#limits").isVisible()));
  await newest.close();
  const rows = await open("rows");
  assert.equal(await rows.page.locator("#roofline").count(), 0);
  await rows.close();
  // Plans of the library choose blocks themselves: only the GPU is left to choose.
  const sum = await open("sum", { javaScriptEnabled: false });
  assert.ok(!(await sum.page.locator("#dials").isVisible()), "sliders need a script");
  assert.ok(await sum.page.locator("#roof-dot").isVisible(), "the picture does not");
  assert.match(await sum.page.locator("#time").textContent(), /^H200, \d+ elements a thread: .* bound by memory/);
  await sum.close();
}

await play([keysButtonsAndGrid, dark, phone, withoutScript, rung, others, roofline, withoutTimes]);
