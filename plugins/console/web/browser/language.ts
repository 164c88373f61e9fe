import { below } from './base.ts';
import { kept } from './store.ts';
import { type Texts, translate } from '../text/words.ts';

/** A language that a plugin, or a pack, adds. */
export interface Language {
  readonly tag: string;
  readonly title: string;
}

/** The language of the catalogue, under its own name in every language. */
export const ownLanguage = 'English';

const longestMs = 3_000;

/** The one that the reader has chosen on this machine; English otherwise. */
export const chosenLanguage = (): string | undefined => kept.read('language');

/** Brings the words of the chosen language before anything is drawn. Where they do not come, the page speaks English. */
export async function speak(): Promise<void> {
  const tag = chosenLanguage();
  if (tag === undefined) {
    return;
  }
  try {
    const answer = await fetch(below(`/api/v1/console/languages/${encodeURIComponent(tag)}`), {
      signal: AbortSignal.timeout(longestMs),
    });
    if (answer.ok) {
      translate(tag, ((await answer.json()) as { texts: Texts }).texts);
      document.documentElement.lang = tag;
    }
  } catch {
    // svc is away, which the page says by itself as soon as it is drawn.
  }
}

/** Pages have their words since they were loaded, so they are loaded again. */
export function chooseLanguage(tag: string | undefined): void {
  kept.write('language', tag);
  location.reload();
}
