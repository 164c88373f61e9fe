import { type Source, target } from './source.ts';

/** Allowed imports between areas of core; `*` is the composition root, which wires all of them. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  sdk: [],
  registry: ['sdk'],
  host: ['sdk', 'registry'],
  http: ['sdk', 'registry', 'auth'],
  auth: ['sdk'],
  storage: ['sdk'],
  events: ['sdk'],
  observe: ['sdk'],
  isolate: ['sdk'],
  outbound: ['sdk'],
  boot: ['*'],
};

/** Libraries that plugins share, and the libraries that each of them may build on; all of them see the contract. */
export const libraries: Readonly<Record<string, readonly string[]>> = {
  flow: [],
  query: ['flow'],
  'native-histogram': ['query', 'template'],
  template: [],
  probe: [],
  tunnel: ['flow'],
  'edge-protocol': [],
  output: [],
  cli: [],
  zip: [],
  'chart-picture': [],
  check: [],
  cron: ['query'],
  'foreign-yaml': [],
  seeded: [],
  connection: [],
  im: [],
  jobs: ['probe'],
  'markdown-file': [],
  rca: [],
  store: ['flow', 'query', 'probe'],
  contracts: ['edge-protocol', 'native-histogram', 'query', 'rca', 'store', 'tunnel'],
};

/**
 * Modules that a plugin may import by the name of the product: the contract and the far side of a
 * thread of core, and every library.
 */
const pluginModules = [
  'svc/sdk',
  'svc/ssh',
  'svc/thread',
  ...Object.keys(libraries)
    .filter((name) => name !== 'contracts' && name !== 'cli')
    .map((name) => `svc/${name}`),
];

/** Matches the contract of an area. */
const contract = /^svc\/contracts\/[a-z-]+$/;

/** Modules that a plugin's command may import by the name of the product. */
const commandModules = [...pluginModules, 'svc/cli'].filter(
  (name) => name !== 'svc/ssh' && name !== 'svc/thread',
);

/** Packages that libraries bundle; those that a plugin is lent are fine as well. */
const libraryPackages = [
  'ajv',
  'better-sqlite3',
  'gray-matter',
  'kysely',
  're2js',
  'typebox',
  'ws',
  'yaml',
];

/** Packages that a plugin may use besides the contract: they compute, and have no effects. */
export const pluginPackages = [
  'typebox',
  'kysely',
  'yaml',
  'semver',
  're2js',
  'ajv',
  'jsonwebtoken',
  'unpdf',
  'marked',
];

/** Packages for browsers; code there reaches only the public routes of svc. */
export const browserPackages = ['preact', 'uplot', '@xterm/xterm', '@xterm/addon-fit'];

/** Parts of node that start something which no scope owns, or reach around the context. */
const closedToPlugins =
  /^node:(child_process|cluster|worker_threads|vm|module|inspector|repl|process|timers|v8)(?:\/.*)?$/;

/** Which plugins are lent closed parts of node, with their globals, and why; as their plugin.json says, so that another one is seen in review. */
export const trusted: Readonly<Record<string, readonly string[]>> = {
  // Starts programs of the machine, whose ends outlast the scope of their owner, and signals their groups.
  programs: ['child_process', 'process', 'timers'],
  // Starts the processes of packs, whose calls have deadlines of their own, and speaks with them in structured clones.
  packs: ['child_process', 'timers', 'v8'],
};

/** Replacements for direct effects in a plugin; `part` of node requires an explicit permission. */
const pluginEffects: readonly {
  readonly form: RegExp;
  readonly part?: string;
  readonly instead: string;
}[] = [
  {
    form: /(?<![.\w])setInterval\b/,
    part: 'timers',
    instead: 'setInterval: use ctx.scope.interval, or setup.every in a thread',
  },
  {
    form: /(?<![.\w])setTimeout\b/,
    part: 'timers',
    instead: 'setTimeout: use ctx.scope.timeout, or setup.after in a thread',
  },
  {
    form: /(?<![.\w])(?:setImmediate|queueMicrotask)\b/,
    part: 'timers',
    instead: 'setImmediate and queueMicrotask: use ctx.scope.task',
  },
  {
    form: /\bglobalThis\b|(?<![.\w])global\b\s*[.[]/,
    instead: 'globalThis: keep state in an object that activate() makes',
  },
  {
    form: /(?<![.\w])process\s*(?:\?\.|\.)?\s*(?:\[|(?:on|once|addListener|prependListener|emit|exit|abort|kill|chdir|env|nextTick|stdout|stderr)\b)/,
    part: 'process',
    instead: 'process: use ctx.scope and ctx.settings',
  },
  { form: /(?<![.\w])console\b/, instead: 'console: use ctx.log' },
  {
    form: /(?<![.\w])watch\s*\(|\bfs\s*\.\s*watch\b|\bwatchFile\s*\(/,
    instead: 'fs.watch: declare a setting, or use ctx.scope.interval',
  },
  {
    form: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())|\bperformance\s*\.\s*now\b/,
    instead: 'the clock: use ctx.clock',
  },
  {
    form: /\bMath\s*\.\s*random\b|\brandomUUID\b|\brandomBytes\b/,
    instead: 'randomness: use ctx.ids',
  },
  {
    form: /(?:^|[\s(])@[A-Za-z]\w*/,
    instead: 'decorators: a global map would pin every reloaded class; use ctx.services.provide',
  },
];

/** Files that may build a pattern at run time, and why that is safe there. All others use literals, or RE2 for what users type. */
export const patternBuilders: Readonly<Record<string, string>> = {
  'bin/agent/schemas.ts': 'what an edge loads has come with the product, its patterns too',
  'core/observe/redact.ts': 'joins its own constants',
  'plugins/lib/query/regex/native.ts':
    'writes every character anew from what was parsed, and only forms whose work is bounded',
};

const singleHomes: Readonly<
  Record<string, { readonly homes: readonly string[]; readonly why: string }>
> = {
  'gray-matter': {
    homes: ['plugins/lib/markdown-file/front-matter.ts'],
    why: 'it runs code in front matter unless it is called with care',
  },
  jsonwebtoken: {
    homes: ['plugins/session/tokens/access-tokens.ts', 'core/boot/shared-modules.ts'],
    why: 'who signs and verifies decides who anybody is',
  },
  pg: {
    homes: ['line', 'read-pool', 'trouble'].map((name) => `core/storage/postgres/${name}.ts`),
    why: 'every connection that it opens has a deadline, and no text shows the password in the URL',
  },
  ssh2: {
    homes: ['core/boot/ssh.ts'],
    why: 'who speaks SSH sees passwords, and must bring the stream itself',
  },
  'reflect-metadata': {
    homes: ['bin/svc.ts', 'bin/edge.ts', 'test/kit/index.ts'],
    why: 'it must come first, once, in whoever starts a process',
  },
};

/**
 * Returns every import or effect that violates the architecture, as a sentence that says where and
 * what is allowed.
 */
export function trespasses(sources: readonly Source[]): string[] {
  return sources.flatMap((file) =>
    rules.flatMap((rule) => rule(file).map((what) => `${file.path}: ${what}`)),
  );
}

type Rule = (file: Source) => string[];

const roomOf = (path: string): string | undefined => /^core\/([^/]+)\//.exec(path)?.[1];
const libraryOf = (path: string): string | undefined => /^plugins\/lib\/([^/]+)\//.exec(path)?.[1];
const pluginOf = (path: string): string | undefined =>
  path.startsWith('plugins/lib/') ? undefined : /^plugins\/([^/]+)\//.exec(path)?.[1];
const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

const coreKeepsItsArrows: Rule = ({ path, imports }) => {
  const room = roomOf(path);
  if (room === undefined) {
    return [];
  }
  const allowed = arrows[room];
  if (allowed === undefined) {
    return [
      `core/${room} is no room of the house; add it to the table in test/house/boundaries.ts and to the architecture`,
    ];
  }
  return imports.flatMap(({ specifier }) => {
    const leadsTo = target(path, specifier);
    if (leadsTo === undefined) {
      return packageOf(specifier) === 'svc'
        ? [`imports ${specifier}; core uses the relative path, the name is for plugins and tests`]
        : [];
    }
    const other = roomOf(leadsTo);
    if (other === room || /^(?:config\/.+\.json|package\.json)$/.test(leadsTo)) {
      return [];
    }
    if (other === undefined || !(allowed.includes('*') || allowed.includes(other))) {
      return [
        `imports ${specifier}; core/${room} may import ${allowed.length === 0 ? 'nothing' : allowed.map((name) => (name === '*' ? 'core' : `core/${name}`)).join(', ')}`,
      ];
    }
    return leadsTo === `core/${other}/index.ts`
      ? []
      : [`imports ${specifier}; another room is entered by its index.ts`];
  });
};

const contractNeedsNothing: Rule = ({ path, imports }) =>
  roomOf(path) !== 'sdk'
    ? []
    : imports
        .filter(
          ({ specifier, typeOnly }) =>
            target(path, specifier) === undefined &&
            !(typeOnly && ['typebox', 'kysely'].includes(specifier)),
        )
        .map(
          ({ specifier }) =>
            `imports ${specifier}; the contract needs nothing at run time, and only the types of typebox and kysely`,
        );

const isOpenTo = (plugin: string, specifier: string): boolean => {
  const part = closedToPlugins.exec(specifier)?.[1];
  return part === undefined || isTrusted(plugin, part);
};

const isTrusted = (plugin: string, part: string): boolean =>
  trusted[plugin]?.includes(part) === true;

/**
 * Returns whether a file runs in the process of a command, which ends with it: no scope owns
 * anything there, and no plugin is loaded.
 */
const isCommand = (path: string): boolean => /^plugins\/(?!lib\/)[^/]+\/cli\//.test(path);

/** Runs in the restricted process of a pack and never in this one, so it may do there what it likes. */
const isInsidePack = (path: string): boolean => path.startsWith('plugins/packs/inside/');

/** Opens a database that is not the one of svc, in a thread or process: the tables of one pack, an index of documents. */
const openOfItsOwn: Readonly<Record<string, string>> = {
  'plugins/packs/tables/pack-tables.ts': 'better-sqlite3',
  'plugins/knowledge/search/held-out.ts': 'better-sqlite3',
  'plugins/knowledge/search/index-file.ts': 'better-sqlite3',
  'plugins/knowledge/search/searcher.ts': 'better-sqlite3',
  'plugins/knowledge/search/vectors.ts': 'better-sqlite3',
  'plugins/knowledge/search/corrections.ts': 'better-sqlite3',
};

/** Runs in browsers alone, where no scope owns anything and the page is all there is. */
const isForBrowsers = (path: string): boolean => /^plugins\/[^/]+\/web\//.test(path);

const browsersKnowOnlyThePage: Rule = ({ path, code, imports }) => {
  const home = /^plugins\/[^/]+\/web\//.exec(path)?.[0];
  if (home === undefined) {
    return imports
      .filter(({ specifier }) => isForBrowsers(target(path, specifier) ?? ''))
      .map(
        ({ specifier }) =>
          `imports ${specifier}; what is for browsers is reached by "browser:./web/…" only`,
      );
  }
  return [
    ...imports
      .filter(
        ({ specifier }) =>
          !(
            target(path, specifier)?.startsWith(home) ??
            browserPackages.some(
              (name) =>
                specifier === name ||
                specifier.startsWith(`${name}/`) ||
                specifier === 'uplot/dist/uPlot.min.css',
            )
          ),
      )
      .map(
        ({ specifier }) =>
          `imports ${specifier}; code for browsers may import its own folder and ${browserPackages.join(', ')}`,
      ),
    ...(/\b(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|srcdoc)\b/.test(code)
      ? ['writes HTML; text of others stays text, so build elements instead']
      : []),
    ...(/\beval\s*\(|\bnew\s+Function\b/.test(code) ? ['makes code of text'] : []),
  ];
};

const commandsStandAlone: Rule = ({ path, imports }) => {
  if (!isCommand(path)) {
    return pluginOf(path) === undefined
      ? []
      : imports
          .filter(
            ({ specifier }) => specifier === 'svc/cli' || isCommand(target(path, specifier) ?? ''),
          )
          .map(
            ({ specifier }) =>
              `imports ${specifier}; a command is run by the program, and its plugin knows nothing of it`,
          );
  }
  const home = path.slice(0, path.indexOf('/cli/') + '/cli/'.length);
  return imports
    .filter(({ specifier }) => {
      const leadsTo = target(path, specifier);
      return leadsTo === undefined
        ? !(
            commandModules.includes(specifier) ||
            contract.test(specifier) ||
            pluginPackages.includes(packageOf(specifier)) ||
            specifier.startsWith('node:')
          )
        : !leadsTo.startsWith(home);
    })
    .map(
      ({ specifier }) =>
        `imports ${specifier}; a command may import ${commandModules.join(', ')}, contracts, files of its own cli/, node: modules and ${pluginPackages.join(', ')}`,
    );
};

const insideOfPacksStaysThere: Rule = ({ path, imports }) =>
  isInsidePack(path) || /^plugins\/packs\/(?:pack|tables)-worker\.ts$/.test(path)
    ? []
    : imports
        .filter(({ specifier }) => isInsidePack(target(path, specifier) ?? ''))
        .map(
          ({ specifier }) =>
            `imports ${specifier}; what runs in the process of a pack is reached through pack-worker.ts only`,
        );

const pluginsKnowOnlyTheContract: Rule = ({ path, imports }) => {
  const plugin = pluginOf(path);
  if (plugin === undefined || isInsidePack(path) || isForBrowsers(path) || isCommand(path)) {
    return [];
  }
  return imports.flatMap(({ specifier }) => {
    const leadsTo = target(path, specifier);
    const allowed =
      leadsTo === undefined
        ? pluginModules.includes(specifier) ||
          contract.test(specifier) ||
          openOfItsOwn[path] === specifier ||
          specifier.startsWith('browser:./web/') ||
          pluginPackages.includes(packageOf(specifier)) ||
          (specifier.startsWith('node:') && isOpenTo(plugin, specifier))
        : pluginOf(leadsTo) === plugin;
    return allowed
      ? []
      : [
          `imports ${specifier}; a plugin may import ${pluginModules.join(', ')}, svc/contracts of every area, its own files, harmless node: modules and ${pluginPackages.join(', ')}`,
        ];
  });
};

const librariesStandBelowPlugins: Rule = ({ path, imports }) => {
  const library = libraryOf(path);
  if (library === undefined) {
    return [];
  }
  const below = libraries[library];
  if (below === undefined) {
    return [
      `plugins/lib/${library} is no library of the product; add it to the table in test/house/boundaries.ts, and to "exports" in package.json`,
    ];
  }
  const names = ['svc/sdk', ...below.map((name) => `svc/${name}`)];
  return imports.flatMap(({ specifier }) => {
    const leadsTo = target(path, specifier);
    const allowed =
      leadsTo === undefined
        ? names.includes(specifier) ||
          libraryPackages.includes(packageOf(specifier)) ||
          (specifier.startsWith('node:') &&
            (!closedToPlugins.test(specifier) || specifier === 'node:timers/promises'))
        : libraryOf(leadsTo) === library;
    return allowed
      ? []
      : [
          `imports ${specifier}; this library may import ${names.join(', ')}, its own files, harmless node: modules and ${libraryPackages.join(', ')}`,
        ];
  });
};

/** A worker file runs where it is imported, so it holds nothing that anybody would import. */
const workersOnlyServe: Rule = ({ path, code, imports }) => {
  const isWorker = /^plugins\/[^/]+\/[^/]+-worker\.ts$/.test(path);
  if (isWorker) {
    const statements = code
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^(?:import\b|\s|\})/.test(line));
    const serves =
      /^(?:void )?serve(?:Thread|Pack|Tables|Parser)\(/.test(statements[0] ?? '') &&
      !/^(?:export|const|let|function|class)\b/m.test(code);
    return serves
      ? []
      : [
          'does more than to call serveThread; keep the open function in a file beside it, so that tests can run it without a thread',
        ];
  }
  return pluginOf(path) !== undefined &&
    (/\bserveThread\b/.test(code) ||
      imports.some(({ specifier }) => specifier.endsWith('-worker.ts')))
    ? [
        'serves a thread or imports a worker file; only the *-worker.ts beside plugin.json calls serveThread, and only ctx.threads starts it',
      ]
    : [];
};

const contractsOfPluginsAreTypes: Rule = ({ path, imports }) =>
  libraryOf(path) !== 'contracts'
    ? []
    : imports
        .filter(
          ({ specifier, typeOnly }) =>
            !typeOnly &&
            !['svc/sdk', 'typebox'].includes(specifier) &&
            target(path, specifier) === undefined,
        )
        .map(
          ({ specifier }) =>
            `imports ${specifier}; what a contract imports is bundled into everyone who uses it, so only types may come from there`,
        );

const pluginsOwnTheirEffects: Rule = ({ path, code }) => {
  const plugin = pluginOf(path);
  return plugin === undefined || isInsidePack(path) || isForBrowsers(path) || isCommand(path)
    ? []
    : pluginEffects
        .filter(
          ({ form, part }) => form.test(code) && !(part !== undefined && isTrusted(plugin, part)),
        )
        .map(({ instead }) => `uses what no scope owns. ${instead}`);
};

const pluginImportsAreReadable: Rule = ({ path, code }) =>
  pluginOf(path) !== undefined &&
  !isInsidePack(path) &&
  !isForBrowsers(path) &&
  /\bimport\s*\((?!\s*['"])|(?<![.\w])require\b|\bcreateRequire\b|\beval\s*\(|\bnew\s+Function\b/.test(
    code,
  )
    ? [
        'loads code by a computed name or from text; imports are literal, so that this test can read them',
      ]
    : [];

const afterInstallation: ReadonlySet<string> = new Set([
  'bin/dev/compile.mjs esbuild',
  'bin/dev/test/build.mjs esbuild',
  'bin/start.mjs tsx/esm/api',
  'bin/start.mjs ./svc.ts',
]);

const scriptsNeedNothing: Rule = ({ path, imports }) =>
  !/^bin\/.+\.mjs$/.test(path)
    ? []
    : imports
        // What comes after the installation.
        .filter(({ specifier }) => !afterInstallation.has(`${path} ${specifier}`))
        .filter(
          ({ specifier }) =>
            !specifier.startsWith('node:') && !/^bin\/.+\.mjs$/.test(target(path, specifier) ?? ''),
        )
        .map(
          ({ specifier }) =>
            `imports ${specifier}; bin/**/*.mjs must run on a bare clone, so node: and each other is all there is`,
        );

const productIgnoresTests: Rule = ({ path, imports }) =>
  path.startsWith('test/')
    ? []
    : imports
        .filter(({ specifier }) => target(path, specifier)?.startsWith('test/'))
        .map(({ specifier }) => `imports ${specifier}; the product does not know its tests`);

const binUsesTheHouse: Rule = ({ path, imports }) =>
  !path.startsWith('bin/')
    ? []
    : imports
        .filter(({ specifier }) => target(path, specifier)?.startsWith('plugins/'))
        .map(({ specifier }) => `imports ${specifier}; plugins are discovered, never imported`);

const packagesStayAtHome: Rule = ({ path, imports }) =>
  imports.flatMap(({ specifier, typeOnly }) => {
    const home = singleHomes[packageOf(specifier)];
    const atHome =
      home === undefined || home.homes.includes(path) || path.startsWith('test/') || typeOnly;
    return atHome
      ? []
      : [`imports ${specifier}; only ${home.homes.join(' and ')} may, because ${home.why}`];
  });

const patternsAreLiterals: Rule = ({ path, code }) =>
  !path.startsWith('test/') && !(path in patternBuilders) && /\bRegExp\s*\(/.test(code)
    ? ['builds a regular expression at run time; use a literal, or re2js for what a user typed']
    : [];

const injectionIsExplicit: Rule = ({ path, code }) =>
  roomOf(path) !== undefined &&
  /@(?:injectable|singleton|scoped)\s*\(/.test(code) &&
  undecoratedParameter(code)
    ? [
        'has a constructor parameter without @inject(TOKEN); esbuild emits no types for tsyringe to go by',
      ]
    : [];

/** Returns whether a constructor of a decorated class takes an undecorated parameter. */
function undecoratedParameter(code: string): boolean {
  return [...code.matchAll(/\bconstructor\s*\(/g)].some((match) => {
    let depth = 1;
    let parameter = '';
    for (const char of code.slice(match.index + match[0].length)) {
      depth += '([{<'.includes(char) ? 1 : ')]}>'.includes(char) ? -1 : 0;
      if (depth === 0 || (depth === 1 && char === ',')) {
        if (parameter.trim() !== '' && !parameter.trim().startsWith('@inject')) {
          return true;
        }
        parameter = '';
      } else {
        parameter += char;
      }
      if (depth === 0) {
        return false;
      }
    }
    return false;
  });
}

const rules: readonly Rule[] = [
  coreKeepsItsArrows,
  contractNeedsNothing,
  insideOfPacksStaysThere,
  browsersKnowOnlyThePage,
  commandsStandAlone,
  pluginsKnowOnlyTheContract,
  librariesStandBelowPlugins,
  workersOnlyServe,
  contractsOfPluginsAreTypes,
  pluginsOwnTheirEffects,
  pluginImportsAreReadable,
  scriptsNeedNothing,
  productIgnoresTests,
  binUsesTheHouse,
  packagesStayAtHome,
  patternsAreLiterals,
  injectionIsExplicit,
];
