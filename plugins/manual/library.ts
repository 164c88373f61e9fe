import type { SettingState } from 'svc/sdk';

import { chapters } from './chapters.ts';
import type { Rendered } from './rendered.ts';
import type { Read } from './search.ts';
import type { ChapterStore } from './chapter-store.ts';

interface Kept {
  readonly text: string;
  readonly page: Rendered;
}

/** The chapters, rendered once for each state of their text. */
export class Library {
  readonly #chapters: ChapterStore;
  readonly #settings: () => readonly SettingState[];
  readonly #kept = new Map<string, Kept>();

  constructor(chapters: ChapterStore, settings: () => readonly SettingState[]) {
    this.#chapters = chapters;
    this.#settings = settings;
  }

  /** Undefined where there is no such chapter. */
  async chapter(name: string): Promise<Rendered | undefined> {
    const text =
      name === 'settings' ? settingsChapter(this.#settings()) : await this.#chapters.text(name);
    if (text === undefined) {
      return undefined;
    }
    const kept = this.#kept.get(name);
    if (kept?.text === text) {
      return kept.page;
    }
    // What reads markdown is evaluated for the first reader, not at each start.
    const { rendered } = await import('./rendered.ts');
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

/** Every setting that plugins declare at this moment, as markdown; defaults alone, since values are for administrators. */
function settingsChapter(settings: readonly SettingState[]): string {
  const owners = [...new Set(settings.map(({ owner }) => owner))].sort();
  const sections = owners.map((owner) => {
    const rows = settings.filter((setting) => setting.owner === owner).map(row);
    return `## ${owner}\n\n| Setting | Variable | Default | What it does |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  return `# Settings\n\nSettings of the plugins of this svc. Change them with \`svc setting set KEY VALUE\` or on the settings page. Precedence: environment, stored value, \`config\` files, default.\n\n${sections.join('\n\n')}\n`;
}

function row({
  key,
  declaration: { env, default: usual, description, sensitive = false, at_start: atStart = false },
}: SettingState): string {
  const cells = [
    `\`${key}\``,
    env === undefined ? '' : `\`${env}\``,
    usual === undefined || sensitive ? '' : `\`${JSON.stringify(usual)}\``,
    `${description}${atStart ? ' (read at the start)' : ''}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll(/\s+/g, ' ')).join(' | ')} |`;
}
