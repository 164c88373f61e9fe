/** Writer of a report: text from outside is escaped, and links can be opened from the target. */
export interface Writing {
  /** Words from outside, such as of logs and labels, on one line. */
  readonly words: (text: string) => string;
  readonly strong: (text: string) => string;
  /**
   * Links a page of the console, a document of the vault, a route or a web page; anything else is
   * only shown.
   */
  readonly link: (to: string, label?: string) => string;
  readonly route: (path: string) => string;
  /** Renders a query in full: it is there to be run. */
  readonly query: (text: string) => string;
}

const longest = 500;
const playbook = 'playbook://';

export const isPlaybook = (link: string | null): boolean => link?.startsWith(playbook) === true;

/** Returns the link to a document; playbooks are those of the vault. */
export const documentLink = (path: string): string =>
  path.startsWith('vault/') ? playbook + path.slice('vault/'.length) : `document:${path}`;

const pathOf = (link: string): string =>
  isPlaybook(link) ? `vault/${link.slice(playbook.length)}` : link.slice('document:'.length);
const isDocument = (link: string): boolean => isPlaybook(link) || link.startsWith('document:');

const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

function oneLine(text: string): string {
  const letters = Array.from(plain(text.slice(0, 4 * longest)));
  return letters.length > longest ? `${letters.slice(0, longest).join('')} …` : letters.join('');
}

/** Neither marks nor entities, and no address that readers make a link of by themselves. */
const escaped = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\\`*[\]<>|#~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)/g, '\\$&')
    .replaceAll('://', ':\\/\\/')
    .replaceAll(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`);

/** Matches pages of the console; readers elsewhere see the name. */
const page = /^\/ui\/[\w/?=&.%-]*$/;
const address = /^(?:https?:\/\/|\/api\/)[^\s<>()"'\p{C}]*$/u;
const named = /^[\w./-]+$/;

const asPart = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

export const asMarkdown: Writing = {
  words: escaped,
  strong: (text) => `**${escaped(text)}**`,
  link(to, label) {
    const target = isDocument(to) ? `/ui/knowledge?read=${asPart(pathOf(to))}` : to;
    if (page.test(target)) {
      return `[${escaped(label ?? (isDocument(to) ? pathOf(to) : to))}](${target})`;
    }
    return `${label === undefined ? '' : `${escaped(label)}: `}${address.test(to) ? `<${to}>` : escaped(to)}`;
  },
  route: (path) => path,
  query(text) {
    const lines = text.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/gu, ' ').split('\n');
    const longestRun = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
    const fence = '`'.repeat(longestRun + 1);
    return ['', fence, ...lines, fence]
      .map((line) => (line === '' ? line : `  ${line}`))
      .join('\n');
  },
};

/** Writes plain text for a terminal: nothing is escaped, and nothing can control it. */
export const asText = (origin: string): Writing => ({
  words: oneLine,
  strong: (text) => oneLine(text),
  link(to, label) {
    const shown = isDocument(to) ? pathOf(to) : to;
    const target =
      isDocument(to) && named.test(shown)
        ? `svc knowledge show ${shown}`
        : page.test(to)
          ? origin + to
          : oneLine(shown);
    return label === undefined || oneLine(label) === target
      ? target
      : `${oneLine(label)} (${target})`;
  },
  route: (path) => path,
  query: (text) => `\n    ${plain(text)}`,
});
