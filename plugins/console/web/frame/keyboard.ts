import { pages } from '../pages/index.ts';
import { address, goTo } from '../browser/location.ts';
import { Store } from '../browser/store.ts';

/** Overlay of the page: the command palette, or the list of keys. */
export const overlay = new Store<'palette' | 'keys' | undefined>(undefined);

export const showPalette = (): void => overlay.set('palette');
export const closeOverlay = (): void => overlay.set(undefined);

/** A command that the page in sight adds to the palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly run: () => void;
}

export const commands = new Store<readonly Command[]>([]);

const chainMs = 1_200;

/** Down or up by one row; where no row has the focus yet, a letter begins at the first. */
const steps: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** Keys that work everywhere but in a field: `Ctrl K`, `/`, `?`, those that walk through rows, and `g` with the key of a page. */
export function followKeys(): void {
  let waitsSince = -Infinity;
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      // Not over a dialog with unsaved input.
      if (overlay.value === 'palette' || !document.querySelector('dialog[open]')) {
        overlay.set(overlay.value === 'palette' ? undefined : 'palette');
      }
      return;
    }
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isTyping(event.target) ||
      document.querySelector('dialog[open]')
    ) {
      return;
    }
    const follows = event.timeStamp - waitsSince < chainMs;
    waitsSince = -Infinity;
    if (follows) {
      const page = pages().find(({ key }) => key === event.key);
      if (page) {
        event.preventDefault();
        goTo(address(page.id === '' ? [] : [page.id]));
      }
    } else if (event.key === 'g') {
      waitsSince = event.timeStamp;
    } else if (event.key === '/') {
      event.preventDefault();
      search();
    } else if (event.key === '?') {
      event.preventDefault();
      overlay.set('keys');
    } else if (steps[event.key]) {
      walk(event);
    }
  });
}

function walk(event: KeyboardEvent): void {
  const here = document.activeElement?.closest('tbody');
  const rows =
    here ?? (event.key.length === 1 && document.querySelector('main .rowlink')?.closest('tbody'));
  const links = rows ? [...rows.querySelectorAll<HTMLElement>('.rowlink')] : [];
  const next =
    links[here ? links.indexOf(document.activeElement as HTMLElement) + steps[event.key]! : 0];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

/** The search of the page where it has one, the palette otherwise. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (field) {
    field.focus();
    field.select();
  } else {
    showPalette();
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest('.xterm') !== null);
