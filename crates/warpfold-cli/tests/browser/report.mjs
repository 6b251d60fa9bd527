// Reads the report as a reader would: links, folds, keys; light, dark, on a phone, without a script; measured and only counted.
//
// node report.mjs FOLDER_OF_PAGES [FOLDER_FOR_SCREENSHOTS]
import assert from "node:assert/strict";
import { fits, lightInkOnDarkPaper, lightness, open, play } from "./browser.mjs";

const phoneScreen = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const folds = (page) => page.locator("details[open]").count();

async function counted() {
  const { page, close } = await open("report", { colorScheme: "light" });
  await fits(page);
  assert.match(await page.locator("header").innerText(), /No GPU took part/);
  for (const section of ["ladder", "gains", "sweeps", "rungs", "complexity", "replays"]) {
    assert.equal(await page.locator(`h2#${section}`).count(), 1, section);
  }
  // Every rung is verified, has a section, and each of the kernels code, a picture and its costs.
  assert.ok((await page.locator("#ladder ~ .table tbody tr").count()) >= 20);
  assert.equal(await page.locator("details.rung").count(), 20);
  assert.equal(await page.locator("details.rung .steps svg").count(), 16);
  assert.equal(await page.locator("details.rung pre code").count(), 16);
  assert.ok((await page.locator("details.rung .verdicts li").count()) >= 16 * 8);
  assert.equal(await page.locator("details.replay").count(), 6);
  // No link leads nowhere.
  const lost = await page.evaluate(() =>
    [...document.querySelectorAll("a[href^='#']")].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(lost, []);
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
  assert.equal(new Set(ids).size, ids.length, "each id is there once");
  await close("report");
}

/** With --predict, times of a GPU that is not there stand beside what is counted and published. */
async function predicted() {
  const { page, close } = await open("predicted", { colorScheme: "light" });
  await fits(page);
  assert.match(await page.locator("header").innerText(), /How long they would take on the GeForce RTX 3070 is predicted/);
  const section = page.locator("section:has(h2#predicted)");
  assert.equal(await section.locator("> .table tbody tr").count(), 18, "all rungs but those of the host");
  assert.equal(await section.locator("details").count(), 10, "four sweeps, six documents");
  const thesis = section.locator("details", { hasText: /^predicted\s*thesis/ });
  await thesis.locator("summary").click();
  assert.match(await thesis.locator("thead").innerText(), /published µs\s+off by/);
  assert.match(await page.locator("[id='06_interleaved']").innerText(), /06_interleaved/);
  assert.match(await page.locator("[id='06_interleaved']").textContent(), /Predicted on the GeForce RTX 3070: [\d.]+ µs, bound by .*; next, take /);
  await page.locator("#predicted").evaluate((heading) => heading.scrollIntoView());
  await close("predicted");
}

async function linksAndKeys() {
  const { page, close } = await open("report", { hash: "#07_strided_index" });
  const focus = () => page.evaluate(() => document.activeElement.closest("details")?.id);
  await page.waitForFunction(() => document.activeElement.closest("details")?.id === "07_strided_index");
  assert.ok(await page.locator("[id='07_strided_index']").evaluate((fold) => fold.open), "what the address names is open");
  await page.keyboard.press("j");
  assert.equal(await focus(), "08_sequential");
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  assert.equal(await focus(), "06_interleaved");
  assert.ok(await page.locator("[id='06_interleaved']").evaluate((fold) => fold.open));
  await page.keyboard.press("Enter");
  assert.ok(!(await page.locator("[id='06_interleaved']").evaluate((fold) => fold.open)), "a fold closes by its own key");
  await page.keyboard.press("o");
  assert.equal(await folds(page), await page.locator("details").count());
  await fits(page);
  await page.click("#all");
  assert.equal(await folds(page), 0);
  await page.click("table a[href='#15_single_pass']");
  await page.waitForFunction(() => document.activeElement.closest("details")?.id === "15_single_pass");
  // With nothing but Tab: first the way past the contents, then on.
  await page.goto(page.url().split("#")[0]);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  await close();
}

async function measured() {
  const { page, close } = await open("measured", { colorScheme: "light" });
  await fits(page);
  assert.doesNotMatch(await page.locator("header").innerText(), /No GPU/);
  assert.match(await page.locator("header").innerText(), /fastest reading/i);
  const gains = page.locator(".gains li");
  const step = gains.filter({ hasText: "10_unroll_last_warp → 11_unrolled" });
  assert.match(await step.innerText(), /G80 1\.41×\s+here 1\.0\d×\s+gone/);
  assert.match(await step.innerText(), /That still happens/);
  assert.match(await page.locator("#roofline ~ pre, section:has(#roofline) pre").first().innerText(), /bound/);
  const bars = page.locator("section:has(#ladder) figure svg").first();
  assert.match(await bars.textContent(), /RTX 3090, published/);
  await page.locator("#gains").evaluate((heading) => heading.scrollIntoView());
  await close("measured");
}

async function dark() {
  const { page, close } = await open("measured", { colorScheme: "dark" });
  await lightInkOnDarkPaper(page);
  // The charts follow: their paper is dark and their titles are light.
  const chart = page.locator("figure svg").first();
  const fill = (element) => element.evaluate((shape) => getComputedStyle(shape).fill);
  assert.ok(lightness(await fill(chart.locator("rect").first())) < 60, "dark paper in charts");
  assert.ok(lightness(await fill(chart.locator("text").first())) > 180, "light ink in charts");
  await page.locator("#sweeps").evaluate((heading) => heading.scrollIntoView());
  await close("report-dark");
}

async function phone() {
  const { page, close } = await open("measured", { ...phoneScreen, colorScheme: "light" });
  await fits(page);
  const summary = page.locator("details.rung summary").nth(8);
  await summary.scrollIntoViewIfNeeded();
  await summary.tap();
  const size = await summary.boundingBox();
  assert.ok(size.height >= 40, "a finger hits a fold");
  await page.locator("#all").tap();
  await fits(page);
  await page.locator("[id='08_sequential']").evaluate((fold) => fold.scrollIntoView());
  await close("report-phone");
}

async function withoutScript() {
  const { page, close } = await open("report", { javaScriptEnabled: false });
  assert.ok((await page.locator("#ladder ~ .table tbody tr").count()) >= 20);
  const fold = page.locator("details.rung").nth(7);
  await fold.locator("summary").click();
  assert.ok(await fold.locator("pre").isVisible(), "folds need no script");
  await close();
}

await play([counted, predicted, linksAndKeys, measured, dark, phone, withoutScript]);
