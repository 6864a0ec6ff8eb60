// theme.js - light and dark: the colours of curves and of the scene, icons, small helpers for elements.

const palettes = {
  light: {
    curves: ['#1f62b0', '#b4500f', '#2a7a44', '#a62a4a', '#6a4bb0', '#80640c', '#0d7580', '#5b6472'],
    bodies: ['#4a7fb8', '#d98b4a', '#6aa878', '#c26b70', '#8a78bd', '#b39355', '#58a2ab', '#8e96a3'],
    ink: '#1b2230', soft: '#5a6474', line: '#d7dce3', panel: '#ffffff', cursor: '#1b2230', event: '#8f3d00',
    ground: '#9aa3af', joint: '#39424f', floor: '#eef1f5', grid: '#c3cad4', gridMajor: '#a4aebb', spring: '#59636f', damper: '#7b8591',
    bushing: '#c9862b', constraint: '#7a828d', drive: '#b4500f', redundant: '#d07a00', cut: '#1f62b0', select: '#e0a100',
    reaction: '#b3261e', torque: '#7a3fb0', applied: '#1d7a3a', springForce: '#0d7580', trail: '#c2571a', ghost: '#7d5bd0'
  },
  dark: {
    curves: ['#7ab3f0', '#f0a35e', '#83cf97', '#f08fa6', '#b9a3f2', '#d9bd5f', '#6fcbd4', '#b5bfcc'],
    bodies: ['#6d9fd6', '#e2a069', '#82bb90', '#d68a8e', '#a798d8', '#c9ae76', '#77bcc4', '#a7afbb'],
    ink: '#e8ecf2', soft: '#a3aebd', line: '#2f3946', panel: '#1a2029', cursor: '#ffffff', event: '#ffbd82',
    ground: '#6b7685', joint: '#c9d1db', floor: '#1e252f', grid: '#343f4d', gridMajor: '#46535f', spring: '#aab4c0', damper: '#8d98a5',
    bushing: '#e0a458', constraint: '#98a2ae', drive: '#f0a35e', redundant: '#ffb84d', cut: '#7ab3f0', select: '#ffd34d',
    reaction: '#ff8a80', torque: '#d0a8ff', applied: '#86d89c', springForce: '#6fcbd4', trail: '#f0a35e', ghost: '#b9a3f2'
  }
};

const theme = {
  name: 'light', listeners: [],
  get colours() { return palettes[this.name]; },
  set(name) {
    this.name = name;
    document.documentElement.dataset.theme = name;
    for (const f of this.listeners) f();
  }
};

const icons = {
  play: ['solid', 'M7 4.5v15l13-7.5z'], pause: ['solid', 'M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z'],
  first: ['', 'M19 5 9 12l10 7zM5 5v14'], last: ['', 'm5 5 10 7-10 7zM19 5v14'],
  back: ['', 'M18 5 8 12l10 7z'], forth: ['', 'm6 5 10 7-10 7z'],
  loop: ['', 'M17 3l4 4-4 4M3 12V9a2 2 0 0 1 2-2h16M7 21l-4-4 4-4M21 12v3a2 2 0 0 1-2 2H3'],
  picture: ['', 'M3 7h4l2-3h6l2 3h4v13H3zM12 17a4 4 0 1 0 0-8 4 4 0 0 0 0 8z'],
  table: ['', 'M4 4h16v16H4zM4 10h16M4 15h16M10 4v16'],
  link: ['', 'M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1.5-1.5'],
  sun: ['', 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2'],
  moon: ['', 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z'],
  help: ['', 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M12 16.8v.2']
};

function icon(name) {
  const [kind, path] = icons[name], space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg'), shape = document.createElementNS(space, 'path');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  if (kind) svg.setAttribute('class', kind);
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

// An element with properties and children; texts are never markup.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.includes('-') || key === 'role' || key === 'for' || key === 'tabindex') element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter(c => c !== null && c !== undefined));
  return element;
}
const named = text => make('bdi', { className: 'name', textContent: text, title: text });
const byId = id => document.getElementById(id);
const setIcon = (id, name) => {
  const button = byId(id);
  button.replaceChildren(icon(name));
  button.setAttribute('aria-label', button.title);
};

function download(name, blob) {
  const address = URL.createObjectURL(blob), a = make('a', { href: address, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
const fileName = text => (text.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[_.]+|_+$/g, '') || 'linkwork').slice(0, 80);

let toastTimer = 0;
function toast(text) {
  const box = byId('toast');
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, 3500);
}
