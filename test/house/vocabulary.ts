/** A word that the product does not use, and what it says instead. */
export interface Avoided {
  readonly word: RegExp;
  readonly better: string;
}

/** Words outside the trade, each met in a text of svc before; docs/glossary.md has the few terms that are its own. */
export const avoided: readonly Avoided[] = [
  { word: /\btold\b/i, better: 'sent, notified or reported' },
  { word: /\bburn(?:s|ing)\b/i, better: 'fires, is open' },
  { word: /\brooms?\b(?! for\b)/i, better: 'plugin' },
  { word: /\b(?:the|whole) house\b/i, better: 'svc, host' },
  { word: /\b(?:no|some|every)body\b/i, better: 'who it is: no user, an operator, all users' },
  { word: /\bwhoever\b/i, better: 'the user who' },
  { word: /\bsuch\b(?! as\b)/i, better: 'a noun: this pack, matching devices' },
  { word: /\bso called\b|\bcalled so\b/i, better: 'named {name}, matching' },
  { word: /\b(?:is|are) like this\b/i, better: 'matching' },
  { word: /^\w+ at most$/i, better: 'Max {thing}' },
  { word: /\bforget(?:s|ting)?\b|\bforgotten\b/i, better: 'delete, reset' },
  { word: /\btak(?:es?|en|ing) away\b/i, better: 'delete, remove, disable' },
  { word: /\blet(?:s|ting)? go\b/i, better: 'release, reset' },
  { word: /\bnot there yet\b/i, better: 'not available yet' },
  { word: /\b(?:is|are|was|were) away\b/i, better: 'is not available' },
  { word: /\b(?:is|are) gone\b/i, better: 'was deleted, no longer exists' },
  { word: /\b(?:is|are|was|were) heard\b|\bheard of\b/i, better: 'is online, was last seen' },
  { word: /\bby (?:it|them)sel(?:f|ves)\b/i, better: 'automatically, or nothing' },
  { word: /\bof (?:then|now)\b/i, better: 'since {time}, current' },
  { word: /\banew\b/i, better: 'again, new' },
  { word: /\bin vain\b/i, better: 'without success' },
  { word: /\bgraver\b/i, better: 'more severe' },
  { word: /\bnotices?\b/i, better: 'notification' },
  { word: /\bstrays?\b/i, better: 'leaks, anomalies' },
];

/** Returns what is wrong with the words of a text, with the better ones; names in braces are not words. */
export const misspoken = (text: string): string[] =>
  avoided.flatMap(({ word, better }) => {
    const found = word.exec(text.replaceAll(/\{\w+\}/g, '{}'));
    return found ? [`"${found[0]}" (better: ${better})`] : [];
  });
