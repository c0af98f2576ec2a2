#include "assets.hpp"

namespace cli::report {

const std::string_view script = R"js(
"use strict";
(() => {
  // The treemap. Its tree is in the drawing itself; zooming lays a part of it out anew, as the program did with all of it.
  const width = 1200, height = 560, heading = 18, padding = 2;
  const svg = document.getElementById("treemap");
  const crumbs = document.getElementById("crumbs");
  const nodes = new Map();

  const read = (g, parent) => {
    const node = {g, parent, bytes: Number(g.dataset.bytes), label: g.dataset.label, rect: null, text: null, inside: []};
    for (const child of g.children) {
      if (child.tagName === "rect") node.rect = child;
      else if (child.tagName === "text") node.text = child;
      else if (child.tagName === "g") node.inside.push(read(child, node));
    }
    nodes.set(g.id, node);
    return node;
  };

  const squarify = (items, x, y, w, h) => {
    const total = items.reduce((sum, item) => sum + item.bytes, 0);
    if (!(total > 0 && w > 0 && h > 0)) {
      for (const item of items) item.at = {x, y, w: 0, h: 0};
      return;
    }
    const scale = w * h / total;
    let first = 0;
    while (first < items.length) {
      const side = Math.min(w, h);
      let area = 0, worst = 0, last = first;
      while (last < items.length) {
        const next = items[last].bytes * scale, largest = items[first].bytes * scale, sum = area + next;
        const ratio = Math.max(side * side * largest / (sum * sum), sum * sum / (side * side * next));
        if (last > first && ratio > worst) break;
        area = sum;
        worst = ratio;
        ++last;
      }
      const thickness = area / side;
      let along = 0;
      for (let i = first; i < last; ++i) {
        const length = items[i].bytes * scale / thickness;
        items[i].at = w >= h ? {x, y: y + along, w: thickness, h: length} : {x: x + along, y, w: length, h: thickness};
        along += length;
      }
      if (w >= h) { x += thickness; w -= thickness; } else { y += thickness; h -= thickness; }
      first = last;
    }
  };

  const fitting = (label, room) => {
    const columns = room < 12 ? 0 : Math.floor(room / 6.4);
    const letters = Array.from(label);
    if (letters.length <= columns) return label;
    return columns < 3 ? "" : letters.slice(0, columns - 1).join("") + "…";
  };

  const put = (node, root) => {
    const {x, y, w, h} = node.at;
    const group = node.inside.length > 0;
    node.rect.setAttribute("x", x);
    node.rect.setAttribute("y", y);
    node.rect.setAttribute("width", Math.max(w, 0));
    node.rect.setAttribute("height", Math.max(h, 0));
    const headed = w > 44 && h > 2.2 * heading;
    if (node.text) {
      node.text.setAttribute("x", x + 4);
      node.text.setAttribute("y", y + 13);
      const fits = !root && (group ? headed : w > 24 && h > 14);
      node.text.textContent = fits ? fitting(node.label, w - 8) : "";
    }
    if (!group) return;
    const top = headed ? heading : padding;
    if (root) squarify(node.inside, x, y, w, h);
    else squarify(node.inside, x + padding, y + top, w - 2 * padding, h - top - padding);
    for (const inner of node.inside) put(inner, false);
  };

  let top = null, current = null;

  const set_control = (node, on) => {
    const target = node.inside.length > 0 ? "button" : node.g.dataset.tensor ? "link" : "";
    if (on && target) {
      node.g.setAttribute("tabindex", "0");
      node.g.setAttribute("role", target);
      node.g.setAttribute("aria-label", node.g.querySelector("title").textContent);
    } else {
      node.g.removeAttribute("tabindex");
      node.g.removeAttribute("role");
      node.g.removeAttribute("aria-label");
    }
    node.g.classList.toggle("can", Boolean(on && target));
  };

  const zoom = (node) => {
    if (current) for (const inner of current.inside) set_control(inner, false);
    for (const other of nodes.values()) {
      other.g.classList.remove("off");
      other.rect.classList.remove("off");
      if (other.text) other.text.classList.remove("off");
    }
    // What is around it goes.
    for (let inner = node; inner.parent; inner = inner.parent) {
      for (const sibling of inner.parent.inside) if (sibling !== inner) sibling.g.classList.add("off");
      inner.parent.rect.classList.add("off");
      if (inner.parent.text) inner.parent.text.classList.add("off");
    }
    current = node;
    node.at = {x: 0, y: 0, w: width, h: height};
    put(node, true);
    for (const inner of node.inside) set_control(inner, true);
    crumbs.replaceChildren();
    const path = [];
    for (let step = node; step; step = step.parent) path.unshift(step);
    for (const step of path) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = step === top ? "All tensors" : step.label;
      if (step === node) button.setAttribute("aria-current", "true");
      else button.addEventListener("click", () => go(step));
      crumbs.append(button);
    }
    svg.dataset.zoom = node.g.id;
  };

  const go = (node) => {
    try { history.pushState(null, "", "#" + node.g.id); } catch (error) { /* not everywhere is there a history */ }
    zoom(node);
  };

  const child_of_current = (element) => {
    let g = element.closest("#treemap g");
    while (g) {
      const node = nodes.get(g.id);
      if (node && node.parent === current) return node;
      g = g.parentElement.closest("#treemap g");
    }
    return null;
  };

  const open_details = (id) => {
    const target = document.getElementById(id);
    if (!target || !target.classList.contains("tensor")) return false;
    target.open = true;
    return true;
  };

  const act = (node) => {
    if (!node) return;
    if (node.inside.length > 0) go(node);
    else if (node.g.dataset.tensor) location.hash = node.g.dataset.tensor;
  };

  if (svg && crumbs) {
    top = read(svg.querySelector("g"), null);
    crumbs.hidden = false;
    zoom(top);
    svg.addEventListener("click", (event) => act(child_of_current(event.target)));
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act(child_of_current(event.target));
        const next = current.inside.find((inner) => inner.g.hasAttribute("tabindex"));
        if (next && document.activeElement === document.body) next.g.focus();
      } else if (event.key === "Escape" && current.parent) {
        const from = current;
        go(current.parent);
        if (from.g.hasAttribute("tabindex")) from.g.focus();
      }
    });
  }

  const follow = () => {
    const id = location.hash.slice(1);
    const node = nodes.get(id);
    if (node) zoom(node.inside.length > 0 || !node.parent ? node : node.parent);
    else if (open_details(id)) document.getElementById(id).scrollIntoView();
    else if (top && id === "") zoom(top);
  };
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
  follow();

  // The table of tensors.
  const table = document.getElementById("tensor-table");
  if (table) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const label = document.createElement("label");
    const input = document.createElement("input");
    const found = document.createElement("span");
    input.type = "search";
    input.autocomplete = "off";
    found.setAttribute("role", "status");
    label.append("Filter", input);
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.append(label, found);
    table.parentElement.before(tools);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(" ").filter((word) => word !== "");
      let count = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        if (!row.hidden) ++count;
      });
      found.textContent = words.length === 0 ? "" : count + " of " + rows.length;
    });

    const key_of = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
      if (cell.dataset.sort === undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending" || (cell.dataset.sort === "number" && !cell.hasAttribute("aria-sort"));
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        const order = rows.map((row, i) => [key_of(row, column), i]);
        order.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
        body.replaceChildren(...order.map((entry) => rows[entry[1]]));
      });
    });
  }

  // The tensors one by one.
  const all = Array.from(document.querySelectorAll("details.tensor"));
  const before = document.getElementById("detail-tools");
  if (all.length > 1 && before) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Open all";
    button.addEventListener("click", () => {
      const open = button.textContent === "Open all";
      for (const one of all) one.open = open;
      button.textContent = open ? "Close all" : "Open all";
    });
    before.append(button);
  }
  // Paper cannot be clicked.
  addEventListener("beforeprint", () => { for (const one of all) one.open = true; });
})();
)js";

}  // namespace cli::report
