(() => {
  // Every place of the sliders was computed by the model; the script only moves what is drawn.
  const data = document.getElementById("roof-data");
  if (!data) return;
  const { devices, blocks, items, points } = JSON.parse(data.textContent);
  const at = (id) => document.getElementById(id);
  const dials = { device: devices.map((device) => device.name), block: blocks, items };

  function move() {
    const [d, b, k] = Object.keys(dials).map((dial) => Number(at(`dial-${dial}`).value));
    for (const [dial, names] of Object.entries(dials)) {
      const name = names[Number(at(`dial-${dial}`).value)];
      at(`dial-${dial}`).setAttribute("aria-valuetext", name);
      at(`dial-${dial}`).parentElement.querySelector("output").value = name;
    }
    const device = devices[d], point = points[(d * blocks.length + b) * items.length + k];
    at("roof-line").setAttribute("points", device.roof);
    at("roof-slope").setAttribute("transform", device.slope);
    at("roof-slope").textContent = device.reading;
    at("roof-flat").setAttribute("y", device.flat);
    at("roof-flat").textContent = device.issuing;
    at("fastest").textContent = device.fastest;
    at("time").textContent = point.text;
    at("roof-kernel").toggleAttribute("hidden", !point.at);
    at("limits").toggleAttribute("hidden", !point.at);
    if (!point.at) return;
    const [x, y, top] = point.at;
    const dot = at("roof-dot"), gap = at("roof-gap");
    for (const [key, value] of [["cx", x], ["cy", y]]) dot.setAttribute(key, value);
    for (const [key, value] of [["x1", x], ["x2", x], ["y1", top], ["y2", y]]) gap.setAttribute(key, value);
    [...at("limits").children].forEach((row, limit) => {
      const share = point.shares[limit];
      row.classList.toggle("binds", limit === point.binds);
      row.querySelector("i").style.width = `${Math.min(100, share)}%`;
      row.querySelector("b").textContent = `${share} %`;
    });
  }
  for (const dial of Object.keys(dials)) at(`dial-${dial}`).addEventListener("input", move);
  at("dials").hidden = false;
  // A browser may have kept where the sliders stood.
  move();
})();
