import { useData } from './data.ts';

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
  readonly pages: readonly Addition[];
  readonly cards: readonly Card[];
}

const none: Additions = { pages: [], cards: [] };

/** What others add, asked for again when a plugin comes or goes. */
export function useAdditions(): Additions {
  const { value } = useData<Additions>('/console/extras', { kinds: ['plugins'] });
  return value ?? none;
}

/** The rights of the reader, as the service of people knows them. */
export interface Me {
  readonly id: number;
  readonly role: string;
  readonly grants: readonly string[];
}

/** Whether the reader may do something, so that no button is offered that would be refused; unknown counts as no. */
export function useMay(): (action: string) => boolean {
  const { value } = useData<Me>('/me', { kinds: ['users', 'roles'] });
  const held = value?.grants ?? [];
  return (action) => held.includes('*') || held.includes(action) || held.includes(`${action.split(':')[0]!}:*`);
}
