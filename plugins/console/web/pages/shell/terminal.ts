import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import rules from '@xterm/xterm/css/xterm.css' with { type: 'text' };

export interface Screen {
  readonly terminal: Terminal;
  /** Adapts to the size of its element; returns the columns and rows. */
  fit(): void;
  close(): void;
}

/**
 * Opens a terminal in `element`. It follows no links and never reads the clipboard unasked: its
 * output was written elsewhere.
 */
export function openScreen(
  element: HTMLElement,
  size?: { readonly cols: number; readonly rows: number },
): Screen {
  const sheets = new OwnSheets();
  const terminal = new Terminal({
    ...size,
    convertEol: false,
    cursorBlink: false,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace',
    fontSize: 13,
    scrollback: 5_000,
    screenReaderMode: true,
    linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
    theme: {
      background: '#0c0e10',
      foreground: '#e7e9ec',
      cursor: '#86abff',
      selectionBackground: '#3c4249',
    },
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
 * The policy of the page takes no inline styles, and the terminal writes some, into elements that it asks the document for: while one is
 * open, its rules go into sheets that a script may add, and the style of a cell is set property by property.
 */
class OwnSheets {
  static #open = 0;
  readonly #sheets = new Set<CSSStyleSheet>();

  constructor() {
    OwnSheets.#open += 1;
    this.#add().replaceSync(rules);
    document.createElement = (name: string): HTMLElement => this.#create(name);
  }

  close(): void {
    OwnSheets.#open -= 1;
    if (OwnSheets.#open === 0) {
      Reflect.deleteProperty(document, 'createElement');
    }
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(
      (sheet) => !this.#sheets.has(sheet),
    );
  }

  #add(): CSSStyleSheet {
    const sheet = new CSSStyleSheet();
    this.#sheets.add(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return sheet;
  }

  #create(name: string): HTMLElement {
    // An empty style element is refused, too; a hidden one replaces it.
    const element = Document.prototype.createElement.call(
      document,
      name === 'style' ? 'template' : name,
    );
    if (name === 'style') {
      const sheet = this.#add();
      Object.defineProperty(element, 'textContent', {
        set: (text: string) => {
          sheet.replaceSync(text);
        },
      });
    } else if (name === 'span') {
      element.setAttribute = (attribute: string, value: string): void => {
        if (attribute === 'style') {
          element.style.cssText = value;
        } else {
          Element.prototype.setAttribute.call(element, attribute, value);
        }
      };
    }
    return element;
  }
}
