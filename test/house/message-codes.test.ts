import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';

import { build } from 'esbuild';

import type { DeclaredError } from '../../core/sdk/index.ts';
import { projectRoot, type Source, sourcesIn } from './source.ts';

const form = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/;
/** `log.warn({ event: '…'` and `new SvcError(…, { reason: '…'`: the code comes first, where a reader looks for it. */
const ofLines = /\blog\??\.(?:debug|info|warn|error)\(\s*\{\s*event: '([^']*)'/g;
const ofErrors = /\breason: '([^']*\.[^']*)'/g;

const sources = sourcesIn('core', 'plugins', 'bin');
const catalogues = sources
  .filter(({ text }: Source) => /\bdefineErrors\(/.test(text))
  .filter(({ path }) => path !== 'core/sdk/error-catalogue.ts');

interface DeclaredAt extends DeclaredError {
  readonly path: string;
}

/** Reads the errors as data, since a catalogue contains nothing else: all in one text, which loads the contract once. */
async function declaredErrors(found: readonly Source[]): Promise<DeclaredAt[]> {
  const { outputFiles } = await build({
    stdin: {
      contents: found.map(({ path }, index) => `export * as c${index} from './${path}';`).join(''),
      resolveDir: projectRoot,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const text = Buffer.from(outputFiles[0]!.contents).toString('base64');
  const exported = (await import(`data:text/javascript;base64,${text}`)) as Record<
    string,
    Readonly<Record<string, Readonly<Record<string, DeclaredError>>>>
  >;
  return found.flatMap(({ path }, index) =>
    Object.values(exported[`c${index}`]!).flatMap((catalogue) =>
      Object.values(catalogue)
        .filter(({ reason }) => reason !== undefined)
        .map(({ reason, code, status, sentence }) => ({ reason, code, status, sentence, path })),
    ),
  );
}

const declared = await declaredErrors(catalogues);

const codes = [
  ...declared.map(({ path, reason }) => ({ path, code: reason as string })),
  ...sources.flatMap(({ path, text }: Source) =>
    [...text.matchAll(ofLines), ...text.matchAll(ofErrors)].map((match) => ({
      path,
      code: match[1]!,
    })),
  ),
];

test('every warning and every error has a code', () => {
  const call = /\blog(?:ger)?(?:\('[a-z.-]+'\))?\??\s*\.\s*(?:warn|error)\(\s*\{(?!\s*event)/g;
  const bare = sources.flatMap(({ path, text }: Source) =>
    [...text.matchAll(call)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  );
  assert.deepEqual(bare, []);
});

test('a message code is an area and what happened there', () => {
  assert.deepEqual(
    codes.filter(({ code }) => !form.test(code)),
    [],
  );
  assert.ok(codes.length > 0);
});

test('a message code names one sentence: it stands at one place of the sources', () => {
  const shared = codes.filter(
    ({ code }, index) => codes.findIndex((other) => other.code === code) !== index,
  );
  assert.deepEqual(shared, []);
});

test('the errors of an area stand in its errors.ts, which its plugin declares', () => {
  assert.deepEqual(
    catalogues.filter(({ path }) => !path.endsWith('/errors.ts')).map(({ path }) => path),
    [],
  );
  const undeclared = catalogues.filter(({ path }) => {
    const [, plugin, file] = /^plugins\/(?!lib\/)([^/]+)\/(.+)$/.exec(path) ?? [];
    const index = sources.find((other) => other.path === `plugins/${plugin}/index.ts`);
    // By index.ts itself, or by a list of catalogues beside it.
    const isNamed =
      /\berrors\b[:,]/.test(index?.text ?? '') &&
      sources.some(
        (other) =>
          posix.dirname(other.path) === `plugins/${plugin}` && other.text.includes(`'./${file}'`),
      );
    return plugin !== undefined && !isNamed;
  });
  assert.deepEqual(
    undeclared.map(({ path }) => path),
    [],
  );
  assert.ok(declared.length > 0);
});

/** Catalogues whose sentences are those of Prometheus, Loki and Go, to the letter. */
const ofOthers =
  /^plugins\/(?:alert\/unit-test|lib\/(?:query|store\/(?:bytes|wire)|template)|logs\/(?:store|tail)|logs|metricsdb|model\/providers)\/errors\.ts$|^plugins\/logs\/store\//;

test('an error is a whole sentence: a capital or the name of a field first, a full stop last', () => {
  const whole =
    /^(?:[A-Z"{]|[\w-]+[._(/]|(?:svc|git|ping|journalctl|app_id) |[a-z_]+:? ?\{)[^]*(?:\.|\}|\)|both > 0)$/;
  assert.deepEqual(
    declared
      // A command says its own behind "svc: ", as programs do.
      .filter(({ path }) => !/^(?:bin|plugins\/lib\/cli)\//.test(path) && !ofOthers.test(path))
      .filter(({ sentence }) => !whole.test(sentence))
      .map(({ path, sentence }) => `${path}: ${sentence}`),
    [],
  );
});

test('a sentence stands once in its catalogue', () => {
  const twice = declared.filter(
    ({ path, sentence }, index) =>
      declared.findIndex((other) => other.path === path && other.sentence === sentence) !== index,
  );
  assert.deepEqual(twice, []);
});

/** The names of things instead: which account, which file, which host. */
const vague = /\b(?:any|every|no|some)body\b|\bwhoever\b|\bsomething\b/i;

test('an error names who and what is meant', () => {
  const errors = [
    ...declared.map(({ path, sentence }) => ({ path, said: sentence })),
    ...sources.flatMap(({ path, text }: Source) =>
      [...text.matchAll(/new (?:SvcError|Error|UsageError)\(([^;]*?)\);/g)].map((match) => ({
        path,
        said: match[1]!,
      })),
    ),
  ];
  assert.deepEqual(
    errors.filter(({ said }) => vague.test(said.replaceAll(/\/\/[^\n]*/g, ''))),
    [],
  );
  assert.ok(errors.length > 500, `${errors.length} errors`);
});
