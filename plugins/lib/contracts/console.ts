import { defineExtensionPoint } from 'svc/sdk';

/** Module that `import page from 'browser:./web/page.tsx'` gives a plugin. */
export interface BrowserModule {
  readonly entry: string;
  readonly style: string | undefined;
  readonly files: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly gzip: string;
    readonly brotli: string;
  }[];
}

/** A page that another plugin adds; its address is `/ui/<path>`. */
export interface ConsolePage {
  readonly path: string;
  /** Section of the navigation, and the title there. */
  readonly nav: { readonly section: string; readonly title: string; readonly order?: number };
  /** Exports `mount(element, console)`, which draws into the element and returns what takes it away again. */
  readonly module: BrowserModule;
}

/** A figure on the overview: data alone, so a pack may add one, too. */
export interface ConsoleCard {
  readonly title: string;
  /** PromQL; each series it gives is one line of the figure. */
  readonly query: string;
  readonly unit?: 'percent' | 'bytes' | 'seconds' | 'per-second' | 'count';
  /** Target of a click: an address of the console. */
  readonly href?: string;
}

/** The words of the page in another language, by the area and the key under which they stand in the code; what is missing stays English. */
export interface ConsoleLanguage {
  /** Language tag as browsers use it: `de`, `pt-BR`. */
  readonly tag: string;
  /** Name of the language in that language. */
  readonly title: string;
  readonly texts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const text = { type: 'string', minLength: 1, maxLength: 80 };
const key = { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9-]{0,59}$' };

/** Pages of the console. Closed to packs: what runs in the page may do everything its user may. */
export const ConsolePages = defineExtensionPoint<ConsolePage>('console.page', {
  type: 'object',
  additionalProperties: false,
  required: ['path', 'nav', 'module'],
  properties: {
    path: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,39}$' },
    nav: {
      type: 'object',
      additionalProperties: false,
      required: ['section', 'title'],
      properties: { section: text, title: text, order: { type: 'number' } },
    },
    module: {
      type: 'object',
      required: ['entry', 'files'],
      properties: { entry: { type: 'string' }, files: { type: 'array', minItems: 1 } },
    },
  },
});

const card = {
  type: 'object',
  additionalProperties: false,
  required: ['title', 'query'],
  properties: {
    title: text,
    query: { type: 'string', minLength: 1, maxLength: 2_000 },
    unit: { enum: ['percent', 'bytes', 'seconds', 'per-second', 'count'] },
    href: { type: 'string', pattern: '^/ui/[A-Za-z0-9/_-]*$', maxLength: 200 },
  },
};

export const ConsoleCards = defineExtensionPoint<ConsoleCard>('console.card', card, {
  packs: {
    schema: card,
    sentence: (_id, { title, query, unit, href }) =>
      `shows the figure "${title}" on the overview, of the query ${query}${unit === undefined ? '' : ` in ${unit}`}${href === undefined ? '' : `, with a link to ${href}`}`,
  },
});

const language = {
  type: 'object',
  additionalProperties: false,
  required: ['tag', 'title', 'texts'],
  properties: {
    tag: { type: 'string', pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$' },
    title: text,
    texts: {
      type: 'object',
      propertyNames: key,
      additionalProperties: {
        type: 'object',
        propertyNames: key,
        additionalProperties: { type: 'string', minLength: 1, maxLength: 500 },
      },
    },
  },
};

export const ConsoleLanguages = defineExtensionPoint<ConsoleLanguage>(
  'console.language',
  language,
  {
    packs: {
      schema: language,
      sentence: (_id, { tag, title, texts }) =>
        `adds the language "${title}" (${tag}) to the console, with these texts: ${Object.entries(
          texts,
        )
          .flatMap(([area, words]) =>
            Object.entries(words).map(([key, word]) => `${area}.${key} "${word}"`),
          )
          .join(', ')}`,
    },
  },
);
