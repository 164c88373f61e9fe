import { defineService } from 'svc/sdk';

/** A text that somebody left; a job counts its words a moment later. */
export interface Entry {
  readonly id: number;
  readonly text: string;
  readonly words: number | null;
  readonly at: number;
}

/** The entries, for other plugins. */
export interface EntryReader {
  latest(): Promise<Entry | undefined>;
}

export const Entries = defineService<EntryReader>('plugin-id.book');
