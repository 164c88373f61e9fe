import '@xterm/xterm/css/xterm.css';

import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';

export interface Screen {
  readonly terminal: Terminal;
  /** Takes the size of its element; says how many columns and rows that are. */
  fit(): void;
  close(): void;
}

/** A terminal in `element`. It follows no links and takes nothing from the clipboard by itself: what is shown was written elsewhere. */
export function openScreen(element: HTMLElement, size?: { readonly cols: number; readonly rows: number }): Screen {
  const sheets = new OwnSheets();
  const terminal = new Terminal({
    ...size,
    documentOverride: sheets.document,
    convertEol: false,
    cursorBlink: false,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace',
    fontSize: 13,
    scrollback: 5_000,
    screenReaderMode: true,
    linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
    theme: { background: '#0c0e10', foreground: '#e7e9ec', cursor: '#86abff', selectionBackground: '#3c4249' },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  const resize = new ResizeObserver(() => size === undefined && fit.fit());
  resize.observe(element);
  return {
    terminal,
    fit: () => fit.fit(),
    close() {
      resize.disconnect();
      terminal.dispose();
      sheets.close();
    },
  };
}

/**
 * The policy of the page takes no inline styles, and the terminal writes some: its rules go into sheets of the page, which is allowed to
 * scripts of its own, and the style of a cell is set property by property.
 */
class OwnSheets {
  readonly document: Document;
  readonly #sheets = new Set<CSSStyleSheet>();

  constructor() {
    const create = (name: string): HTMLElement => this.#create(name);
    this.document = new Proxy(document, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        return key === 'createElement' ? create : typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  close(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !this.#sheets.has(sheet));
  }

  #create(name: string): HTMLElement {
    const element = document.createElement(name);
    if (name === 'style') {
      const sheet = new CSSStyleSheet();
      this.#sheets.add(sheet);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      Object.defineProperty(element, 'textContent', { set: (rules: string) => void sheet.replaceSync(rules) });
    } else {
      element.setAttribute = (attribute: string, value: string): void =>
        attribute === 'style' ? void (element.style.cssText = value) : Element.prototype.setAttribute.call(element, attribute, value);
    }
    return element;
  }
}
