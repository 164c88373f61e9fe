import { useCallback } from 'preact/hooks';

import { base } from './base.ts';
import { keepRange, takeRange } from './range.ts';
import { Store, useStore } from './store.ts';

/**
 * Location of the page: everything it shows follows from this, so addresses can be shared and
 * "back" works.
 */
export interface Place {
  /** Parts after `/ui/`; none is the overview. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const placeNow = (): Place => ({
  parts: partsOf(location.pathname),
  query: new URLSearchParams(location.search),
});

const partsOf = (path: string): readonly string[] =>
  path
    .slice(base.length)
    .replace(/^ui(?:\/|$)/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A broken address is shown as it was typed.
    return part;
  }
}

export const place = new Store<Place>(placeNow());

export function goTo(
  address: string,
  { replace = false }: { readonly replace?: boolean } = {},
): void {
  const next = new URL(address, location.href);
  if (!replace) {
    const { parts, query } = place.value;
    keepRange(parts[0], query);
    takeRange(partsOf(next.pathname)[0], next.searchParams);
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', next);
  place.set(placeNow());
}

/** Follows links of the console without loading the page again; all others are left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', () => place.set(placeNow()));
  addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a');
    const isOwn =
      link &&
      link.origin === location.origin &&
      isPage(link.pathname) &&
      !link.target &&
      !link.hash;
    if (
      isOwn &&
      !event.defaultPrevented &&
      event.button === 0 &&
      !event.metaKey &&
      !event.ctrlKey &&
      !event.shiftKey &&
      !event.altKey
    ) {
      event.preventDefault();
      goTo(link.href);
      document.querySelector('main')?.scrollTo(0, 0);
    }
  });
}

const isPage = (path: string): boolean =>
  path === base || (path.startsWith(base) && /^ui\/(?!assets\/)/.test(path.slice(base.length)));

export const usePlace = (): Place => useStore(place);

/** One value of the address, such as a filter; setting it does not add a step to the history. */
export function useParam(name: string, otherwise = ''): readonly [string, (value: string) => void] {
  const { query } = usePlace();
  const set = useCallback(
    (value: string) => {
      const next = new URLSearchParams(place.value.query);
      if (value === otherwise) {
        next.delete(name);
      } else {
        next.set(name, value);
      }
      const text = next.toString();
      goTo(location.pathname + (text === '' ? '' : `?${text}`), { replace: true });
    },
    [name, otherwise],
  );
  return [query.get(name) ?? otherwise, set];
}

/** All values of one name in the address, in their order. */
export function useParams(
  name: string,
): readonly [readonly string[], (values: readonly string[]) => void] {
  const { query } = usePlace();
  const set = useCallback(
    (values: readonly string[]) => {
      const next = new URLSearchParams(place.value.query);
      next.delete(name);
      values.forEach((value) => next.append(name, value));
      const text = next.toString();
      goTo(location.pathname + (text === '' ? '' : `?${text}`), { replace: true });
    },
    [name],
  );
  return [query.getAll(name), set];
}

/** An address of the console, its values escaped; no parts are the overview. */
export function address(
  parts: readonly (string | number)[],
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, values = []]) =>
    [values]
      .flat()
      .filter((value) => value !== '')
      .map((value): [string, string] => [name, value]),
  );
  const search = new URLSearchParams(given).toString();
  const path =
    parts.length === 0 ? '' : ['ui', ...parts].map((part) => encodeURIComponent(part)).join('/');
  return `${base}${path}${search === '' ? '' : `?${search}`}`;
}
