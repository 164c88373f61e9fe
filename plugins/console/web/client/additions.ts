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

/** What others add, asked for again when a plugin comes or goes. */
export function useAdditions(): Additions {
  const { value } = useData<Additions>('/console/extras', { kinds: ['plugins'] });
  return value ?? none;
}

/** Whether svc has this room now; as long as it is not known, no. */
export const useRoom = (id: string): boolean => useAdditions().rooms.includes(id);

/** The rights of the reader, as the service of people knows them. */
export interface Me {
  readonly id: number;
  readonly role: string;
  readonly grants: readonly string[];
  /** Of organizations that show their members some devices alone; null: all devices. */
  readonly device_selectors: readonly string[] | null;
}

/** Whether the reader may do something, so that no button is offered that would be refused; unknown counts as no. */
export function useMay(): (action: string) => boolean {
  const { value } = useData<Me>('/me', { kinds: ['users', 'roles', 'sessions'] });
  const held = value?.grants ?? [];
  return (action) =>
    held.includes('*') || held.includes(action) || held.includes(`${action.split(':')[0]!}:*`);
}

/** Whether the reader sees all devices: what is of the whole house is not asked for by others, whom it would be refused. Unknown counts as no. */
export const useSeesAll = (): boolean =>
  useData<Me>('/me', { kinds: ['users', 'roles'] }).value?.device_selectors === null;
