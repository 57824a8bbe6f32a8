"use strict";
const by = (id) => document.getElementById(id);

// A drawing whose parts change. It knows no game: a part is found by its id.
class Board {
  constructor(place) {
    this.place = place;
    this.parts = new Map();
  }

  draw(svg) {
    this.place.innerHTML = svg;
    this.parts = new Map([...this.place.querySelectorAll("g[id]")].map((part) => [part.id, part]));
  }

  apply([id, acts, kinds, transform, text]) {
    const part = this.parts.get(id);
    if (acts) part.setAttribute("data-act", acts);
    else part.removeAttribute("data-act");
    if (kinds === undefined) return;
    part.setAttribute("class", kinds);
    part.setAttribute("transform", transform);
    const label = part.querySelector("text.on");
    if (label) label.textContent = text;
  }

  save(name) {
    const drawing = this.place.querySelector("svg").outerHTML;
    const url = URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  }
}
