import { useData } from './data.ts';
import type { Language } from '../browser/language.ts';

/** A page that another plugin adds. */
export interface Addition {
  readonly id: string;
  readonly path: string;
  readonly nav: { readonly section: string; readonly title: string; readonly order?: number };
  readonly plugin: string;
  readonly script: string;
  readonly style?: string;
}

/** A figure that another plugin, or a pack, adds to the overview. */
export interface Card {
  readonly id: string;
  readonly title: string;
  readonly query: string;
  readonly unit?: string;
  readonly href?: string;
  readonly plugin: string;
}

interface Additions {
  readonly languages: readonly Language[];
  readonly rooms: readonly string[];
  readonly pages: readonly Addition[];
  readonly cards: readonly Card[];
}

const none: Additions = { rooms: [], pages: [], cards: [], languages: [] };

/**
 * Returns pages and languages from other plugins, fetched again when a plugin is loaded or
 * unloaded.
 */
export function useAdditions(): Additions {
  const { value } = useData<Additions>('/console/extras', { kinds: ['plugins'] });
  return value ?? none;
}

/** Returns whether svc has this plugin now; false while unknown. */
export const useRoom = (id: string): boolean => useAdditions().rooms.includes(id);

/** The rights of the reader, as the service of people knows them. */
export interface Me {
  readonly id: number;
  readonly role: string;
  readonly grants: readonly string[];
  /** Device selectors of the user's organizations; null means all devices. */
  readonly device_selectors: readonly string[] | null;
}

/**
 * Returns whether the user may do something, so that no button is offered that would be refused;
 * unknown counts as no.
 */
export function useMay(): (action: string) => boolean {
  const { value } = useData<Me>('/me', { kinds: ['users', 'roles', 'sessions'] });
  const held = value?.grants ?? [];
  return (action) =>
    held.includes('*') || held.includes(action) || held.includes(`${action.split(':')[0]!}:*`);
}

/**
 * Returns whether the user sees all devices, since requests about the whole installation would be
 * refused otherwise. Unknown counts as no.
 */
export const useSeesAll = (): boolean =>
  useData<Me>('/me', { kinds: ['users', 'roles'] }).value?.device_selectors === null;
