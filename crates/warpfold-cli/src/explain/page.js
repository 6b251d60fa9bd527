"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const { steps, code } = data;
  const width = Number(at("grid").dataset.step);
  const kinds = {
    "global load": "global", "global store": "global", "bulk copy": "global", "shared load": "shared", "shared store": "shared",
    "atomic": "atomic", "fence": "atomic", "mbarrier": "atomic", "block barrier": "barrier", "warp exchange": "exchange",
    "warp barrier": "exchange", "control": "control", "predicate": "control",
  };
  let now = 0;
  let timer = null;

  const bit = (mask, lane) => (mask >>> lane) & 1;
  const count = (mask) => { let n = 0; for (let m = mask >>> 0; m; m &= m - 1) n++; return n; };

  // A picture of a size in pixels, which shrinks where the screen is narrower.
  function drawing(width, height, kind, label) {
    return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: kind, role: "img", "aria-label": label });
  }

  function svg(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // 32 squares a warp: working, held back by a guard, or not there.
  function drawLanes(step) {
    const size = 14, left = 56, warps = Math.ceil(data.block / 32);
    const picture = drawing(left + 32 * size + 2, warps * (size + 3) + 2, kinds[step.class] || "compute", "Lanes of each warp");
    for (let warp = 0; warp < warps; warp++) {
      const parts = step.warps.filter((part) => part.warp === warp);
      const y = warp * (size + 3) + 1;
      picture.append(svg("text", { x: 0, y: y + 10 }, `warp ${warp}`));
      for (let lane = 0; lane < 32; lane++) {
        const on = parts.some((part) => bit(part.on, lane));
        const held = parts.some((part) => bit(part.active, lane));
        const state = on ? "work" : held ? "held" : "idle";
        picture.append(svg("rect", { x: left + lane * size, y, width: size - 1, height: size - 1, rx: 2, class: state }));
        if (on && data.block <= 128) {
          picture.append(svg("text", { x: left + lane * size + size / 2 - .5, y: y + 10, class: "in" }, lane));
        }
      }
    }
    return picture;
  }

  // The banks of a shared access: each word once, above its bank, with the first lane that wants it.
  function drawBanks(reach) {
    const banks = Array.from({ length: 32 }, () => new Map());
    reach.at.forEach((address, lane) => {
      if (address === null) return;
      for (let word = Math.floor(address / 4); word < (address + reach.bytes) / 4; word++) {
        if (!banks[word % 32].has(word)) banks[word % 32].set(word, lane);
      }
    });
    const size = 18, deepest = Math.max(1, ...banks.map((bank) => bank.size));
    const picture = drawing(32 * size + 2, (deepest + 1) * size + 2, "shared", "Banks touched");
    banks.forEach((bank, column) => {
      [...bank.values()].forEach((lane, row) => {
        const x = column * size, y = (deepest - 1 - row) * size;
        picture.append(svg("rect", { x, y, width: size - 1, height: size - 1, rx: 2, class: "work" }));
        picture.append(svg("text", { x: x + size / 2, y: y + 12, class: "in" }, lane));
      });
      picture.append(svg("rect", {
        x: column * size, y: deepest * size + 1, width: size - 1, height: size - 3, rx: 2, class: "idle",
      }));
      picture.append(svg("text", { x: column * size + 3, y: deepest * size + 12 }, column));
    });
    return picture;
  }

  // The sectors of a global access: 32 bytes each, filled as far as lanes use them.
  function drawSectors(reach) {
    const used = new Map();
    for (const address of reach.at) {
      if (address === null) continue;
      for (let byte = address; byte < address + reach.bytes; byte++) {
        const sector = Math.floor(byte / 32);
        if (!used.has(sector)) used.set(sector, new Set());
        used.get(sector).add(byte % 32);
      }
    }
    const sectors = [...used.keys()].sort((a, b) => a - b);
    const size = 36, across = 16, rows = Math.ceil(sectors.length / across);
    const picture = drawing(Math.min(across, sectors.length) * size + 2, rows * 30 + 2, "global", "Sectors touched");
    sectors.forEach((sector, k) => {
      const x = (k % across) * size, y = Math.floor(k / across) * 30;
      picture.append(svg("rect", { x, y: y + 10, width: size - 2, height: 16, class: "idle" }));
      for (const byte of used.get(sector)) {
        picture.append(svg("rect", { x: x + byte * (size - 2) / 32, y: y + 10, width: (size - 2) / 32 + .3, height: 16, class: "work" }));
      }
      picture.append(svg("text", { x, y: y + 8 }, sector * 32));
    });
    return picture;
  }

  function drawMemory(step) {
    const panel = at("memory");
    panel.replaceChildren();
    for (const part of step.warps) {
      for (const reach of part.touches || []) {
        const shared = reach.place === "shared";
        const title = document.createElement("h4");
        const lanes = reach.at.filter((address) => address !== null).length;
        const cost = shared
          ? `${reach.wavefronts[0]} wavefront${reach.wavefronts[0] === 1 ? "" : "s"} (${reach.wavefronts[1]} without conflicts); a lane above each bank`
          : `${reach.sectors} sector${reach.sectors === 1 ? "" : "s"} of 32 bytes; where each begins, and what is used of it`;
        title.textContent = `Warp ${part.warp}: ${lanes} lane${lanes === 1 ? "" : "s"} ${reach.verb.replace(/s$/, lanes === 1 ? "s" : "")} ${reach.bytes} bytes of ${shared ? "shared memory" : reach.place}, ${cost}`;
        panel.append(title, shared ? drawBanks(reach) : drawSectors(reach));
      }
    }
  }

  function show(step) {
    now = Math.max(0, Math.min(steps.length - 1, step));
    const told = steps[now];
    if (!told) return;
    const [text, source, line] = code[told.index];
    at("cursor").setAttribute("x", now * width);
    at("slider").value = now;
    const lanes = told.warps.reduce((sum, part) => sum + count(part.on), 0);
    at("place").value = `step ${now + 1} of ${steps.length}, after ${told.phase} barrier${told.phase === 1 ? "" : "s"}, ${lanes} of ${data.block} lanes work`;
    at("ptx").textContent = `${text}   (PTX line ${line})`;
    const row = source && at(source);
    document.querySelectorAll(".here").forEach((old) => old.classList.remove("here"));
    if (row) row.classList.add("here");
    const file = row && row.closest(".source").previousElementSibling.textContent;
    at("line").textContent = row ? `${file}:${source.split("-")[1]}   ${row.querySelector("code").textContent.trim()}` : "";
    at("events").textContent = told.events || (told.class === "control" ? "all lanes of each warp go one way" : "arithmetic in registers");
    at("lanes").replaceChildren(drawLanes(told));
    drawMemory(told);
    const view = at("scroll"), x = now * width;
    if (x < view.scrollLeft + 20 || x > view.scrollLeft + view.clientWidth - 40) view.scrollLeft = x - view.clientWidth / 3;
  }

  const touches = (step) => step.warps.some((part) => part.touches && part.touches.length);
  function seek(direction) {
    for (let step = now + direction; step >= 0 && step < steps.length; step += direction) {
      if (touches(steps[step])) return show(step);
    }
    show(direction > 0 ? steps.length - 1 : 0);
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    at("play").classList.remove("playing");
    at("play").setAttribute("aria-label", "Play");
  }
  function play() {
    if (timer) return pause();
    if (now === steps.length - 1) show(0);
    timer = setInterval(() => (now + 1 < steps.length ? show(now + 1) : pause()), 180);
    at("play").classList.add("playing");
    at("play").setAttribute("aria-label", "Pause");
  }
  const go = (where) => () => { pause(); where(); };

  const acts = {
    first: go(() => show(0)), last: go(() => show(steps.length - 1)), back: go(() => show(now - 1)), on: go(() => show(now + 1)),
    before: go(() => seek(-1)), after: go(() => seek(1)), play,
  };
  for (const [id, act] of Object.entries(acts)) at(id).addEventListener("click", act);
  const keys = {
    Home: "first", End: "last", ArrowLeft: "back", ArrowRight: "on", PageUp: "before", PageDown: "after", " ": "play",
  };
  document.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    // Sliders of the roofline have keys of their own.
    if (event.target.closest("#roofline")) return;
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    // The space bar presses the button that has the focus.
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    acts[act]();
  });
  at("slider").max = Math.max(0, steps.length - 1);
  at("slider").addEventListener("input", (event) => go(() => show(Number(event.target.value)))());
  at("grid").addEventListener("click", (event) => {
    const box = at("grid").getBoundingClientRect();
    go(() => show(Math.floor((event.clientX - box.left) / width)))();
  });
  show(0);
})();
