import { type Store as Watched, Store } from '../../../browser/store.ts';
import { session } from '../../../client/session.ts';
import type { Draft, Saved, Steps } from './draft.ts';

/** A draft that is neither saved nor discarded. */
export interface KeptDraft {
  /** The dashboard that it was made of: who has saved meanwhile is not overwritten. */
  readonly saved: Omit<Saved, 'version'> & { readonly version: number | undefined };
  readonly begin: Draft;
  readonly steps: Steps;
}

/** Drafts by user and dashboard. They stay while the reader follows links, until the browser leaves the console. */
export const drafts: Watched<ReadonlyMap<string, KeptDraft>> = new Store<
  ReadonlyMap<string, KeptDraft>
>(new Map());

const keyOf = (uid: string): string => {
  const { value } = session;
  return `${value.state === 'in' ? value.user.id : 0} ${uid}`;
};

export const keptDraft = (uid: string): KeptDraft | undefined => drafts.value.get(keyOf(uid));

/** Returns the drafts of whoever is signed in. */
export const ownDrafts = (all: ReadonlyMap<string, KeptDraft>): readonly KeptDraft[] => {
  const own = keyOf('');
  return [...all].filter(([key]) => key.startsWith(own)).map(([, draft]) => draft);
};

export function keepDraft(uid: string, draft: KeptDraft | undefined): void {
  const next = new Map(drafts.value);
  if (draft === undefined) {
    next.delete(keyOf(uid));
  } else {
    next.set(keyOf(uid), draft);
  }
  drafts.set(next);
}

/** Asks before the browser leaves, which would lose them. */
const ask = (event: BeforeUnloadEvent): void => event.preventDefault();

drafts.onChange(({ size }) =>
  (size > 0 ? addEventListener : removeEventListener)('beforeunload', ask),
);
