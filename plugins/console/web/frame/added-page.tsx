import { useEffect, useState } from 'preact/hooks';

import { Empty } from '../kit/parts.tsx';
import { api } from '../client/api.ts';
import type { Addition } from '../client/additions.ts';
import { below } from '../browser/base.ts';
import { figure, moment } from '../text/format.ts';
import { onChanged } from '../client/live.ts';
import { address, goTo, place } from '../browser/location.ts';
import { visible } from '../browser/visible.ts';
import { addedPage as text } from '../text/english/frame.ts';

/**
 * API for modules of other plugins: the same functions that built-in pages use, and no code of
 * theirs.
 */
const forModules = {
  api,
  onChanged,
  goTo,
  address,
  place: () => place.value,
  onPlace: (listener: () => void) => place.onChange(listener),
  visible,
  figure,
  moment,
};

export type ConsoleForModules = typeof forModules;

interface AddedModule {
  readonly mount: (element: HTMLElement, console: ConsoleForModules) => (() => void) | void;
}

const styles = new Set<string>();

/** Loads a module once and lets it render; returns a function that removes what it rendered. */
async function mountModule(
  { script, style }: Addition,
  element: HTMLElement,
): Promise<(() => void) | void> {
  if (style !== undefined && !styles.has(style)) {
    styles.add(style);
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = below(style);
    document.head.append(link);
  }
  const module = (await import(below(script))) as AddedModule;
  return module.mount(element, forModules);
}

/** A page of another plugin: its module draws into an element of its own. */
export function AddedPage({ page }: { readonly page: Addition }) {
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (!element) {
      return undefined;
    }
    let leave: (() => void) | void;
    let left = false;
    mountModule(page, element).then(
      (undo) => (left ? undo?.() : (leave = undo)),
      () => setBroken(true),
    );
    return () => {
      left = true;
      leave?.();
    };
  }, [element, page.script]);
  return isBroken ? <Empty title={text.broken} /> : <div class="page" ref={setElement} />;
}
