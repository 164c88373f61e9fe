import type { SettingState } from 'svc/sdk';

import { chapters } from './chapters.ts';
import { rendered, type Rendered } from './rendered.ts';
import type { Read } from './search.ts';
import { settingsChapter } from './settings-chapter.ts';
import type { Shelf } from './shelf.ts';

interface Kept {
  readonly text: string;
  readonly page: Rendered;
}

/** The chapters, rendered once for each state of their text. */
export class Library {
  readonly #shelf: Shelf;
  readonly #settings: () => readonly SettingState[];
  readonly #kept = new Map<string, Kept>();

  constructor(shelf: Shelf, settings: () => readonly SettingState[]) {
    this.#shelf = shelf;
    this.#settings = settings;
  }

  /** Undefined where there is no such chapter. */
  async chapter(name: string): Promise<Rendered | undefined> {
    const text = name === 'settings' ? settingsChapter(this.#settings()) : await this.#shelf.text(name);
    if (text === undefined) {
      return undefined;
    }
    const kept = this.#kept.get(name);
    if (kept?.text === text) {
      return kept.page;
    }
    const page = rendered(text);
    this.#kept.set(name, { text, page });
    return page;
  }

  async all(): Promise<readonly Read[]> {
    const read = await Promise.all(
      chapters.map(async (chapter) => {
        const page = await this.chapter(chapter.name);
        return page === undefined ? [] : [{ chapter, sections: page.sections }];
      }),
    );
    return read.flat();
  }
}
