import type { ConsoleLanguage } from 'svc/contracts/console';
import type { OpenPoint } from 'svc/sdk';

type Texts = Record<string, Record<string, string>>;

/** Languages that plugins and packs contribute besides English; contributions to one are merged. */
export class Languages {
  readonly #point: OpenPoint<ConsoleLanguage>;

  constructor(point: OpenPoint<ConsoleLanguage>) {
    this.#point = point;
  }

  list(): readonly Pick<ConsoleLanguage, 'tag' | 'title'>[] {
    const titles = new Map(this.#point.list().map(({ value: { tag, title } }) => [tag, title]));
    return [...titles]
      .map(([tag, title]) => ({ tag, title }))
      .sort((a, b) => (a.tag < b.tag ? -1 : 1));
  }

  /** Returns the texts; undefined if no plugin contributes the language. */
  texts(tag: string): Texts | undefined {
    const found = this.#point.list().filter(({ value }) => value.tag === tag);
    if (found.length === 0) {
      return undefined;
    }
    const areas = found.flatMap(({ value }) => Object.entries(value.texts));
    const texts: Texts = {};
    areas.forEach(([area, words]) => (texts[area] = { ...texts[area], ...words }));
    return texts;
  }
}
