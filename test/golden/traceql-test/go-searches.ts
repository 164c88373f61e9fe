import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';

import {
  jsonOf,
  type Loose,
  noCall,
  openService,
  type Service,
} from '../../plugins/traces/store-house.ts';
import {
  fieldsOf,
  functionBody,
  type GoField,
  type GoValue,
  literalAt,
  tableOf,
} from '../go-literals.ts';
import type { Judged } from './go-evaluations.ts';
import {
  answeredSpanset,
  conditionsOf,
  elements,
  named,
  plainText,
  nanos,
  otherOf,
  queryOfTags,
  requests,
  resourceOf,
  shiftSeconds,
  spansetOf,
  tagsOf,
  textOf,
  traceId,
  windowOf,
} from './go-trace.ts';

const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(JSON.stringify(value)));

interface Asked {
  readonly query?: string;
  readonly tags?: string;
  readonly start?: number;
  readonly end?: number;
  readonly minDuration?: string;
  readonly maxDuration?: string;
}

/** The tests of tempodb_search_test.go: its trace among others, in the store here, once as it arrives and once in a block. */
export async function goSearches(tempo: string): Promise<Judged[]> {
  const source = readFileSync(join(tempo, 'tempodb/tempodb_search_test.go'), 'utf8');
  const work: (() => unknown)[] = [];
  const service = await openService({ after: (one) => void work.push(one) });
  try {
    const trace = literalAt(functionBody(source, 'makeExpectedTrace'), /tr = &tempopb\.Trace\{/);
    await service.methods.push({
      format: 'otlp-json',
      body: bytesOf({ resourceSpans: elements(named(trace, 'ResourceSpans')).map(resourceOf) }),
    });
    await service.methods.push({
      format: 'otlp-json',
      body: bytesOf({ resourceSpans: Array.from({ length: 49 }, (_, at) => otherOf(at)) }),
    });
    const arrived = await judgedAll(service, source, trace);
    await service.methods.tend({ now: true });
    return [...arrived, ...(await judgedAll(service, source, trace))];
  } finally {
    for (const one of work.reverse()) {
      await one();
    }
  }
}

async function judgedAll(
  service: Service,
  source: string,
  trace: readonly GoField[],
): Promise<Judged[]> {
  const suite = functionBody(source, 'searchTestSuite');
  const [matching, others] = ['searchesThatMatch', 'searchesThatDontMatch'].map((name) =>
    requests(suite, new RegExp(`${name} = \\[\\]\\*tempopb\\.SearchRequest\\{`)),
  );
  const judged: Judged[] = [];
  const ask = async (table: string, asked: Asked, matches: boolean): Promise<void> => {
    const query = asked.query ?? JSON.stringify(asked);
    judged.push({
      table,
      query,
      ...(await wrongWith(
        async () =>
          ((await found(service, asked)) === undefined) === !matches ||
          `${matches ? 'not ' : ''}found`,
      )),
    });
  };
  for (const [list, matches] of [
    [matching!, true],
    [others!, false],
  ] as const) {
    for (const fields of list) {
      await ask('searchRunner', tagsOf(fields), matches);
      await ask('traceQLRunner', { ...windowOf(fields), query: queryOfTags(fields) }, matches);
    }
  }
  const listed = [
    ['traceQLRunner', 'quotedAttributesThatMatch', true],
    ['traceQLRunner', 'quotedAttributesThaDonttMatch', false],
    ['traceQLDuration', 'quotedAttributesThatMatch', true],
    ['traceQLDuration', 'quotedAttributesThaDonttMatch', false],
    ['traceQLStructural', 'searchesThatDontMatch', false],
    ['traceQLExistence', 'searchesThatDontMatch', false],
    ['advancedTraceQLRunner', 'searchesThatMatch', true],
    ['advancedTraceQLRunner', 'searchesThatDontMatch', false],
    ['runEventLinkInstrumentationSearchTest', 'searchesThatMatch', true],
  ] as const;
  const conditions = conditionsOf(trace);
  for (const [table, name, matches] of listed) {
    for (const fields of requests(
      functionBody(source, table),
      new RegExp(`\\b${name} := \\[\\]\\*tempopb\\.SearchRequest\\{`),
    )) {
      // Conditions are drawn by lot in the tests, so each is drawn a few times.
      for (let draw = 0; draw < (table.startsWith('advanced') ? 5 : 1); draw++) {
        await ask(table, { query: textOf(named(fields, 'Query')!, conditions(draw)) }, matches);
      }
    }
  }
  judged.push(
    ...(await judgedSpansets(service, source)),
    ...(await judgedTags(service, source)),
    ...(await judgedConditions(service, source)),
  );
  return judged;
}

const orphans = [
  '{  } !~ {  }',
  '{ name = `BrokenSpan` } | select(nestedSetRight, nestedSetLeft, nestedSetParent)',
  '{ nestedSetParent = -1 } | select(name)',
];

/** Tables with the spansets that come out. */
async function judgedSpansets(service: Service, source: string): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const table of ['groupTraceQLRunner', 'traceQLStructural', 'nestedSet']) {
    for (const { value } of literalAt(
      functionBody(source, table),
      /searchesThatMatch := \[\]\*test\{/,
    )) {
      const query = plainText(named(fieldsOf(named(fieldsOf(value), 'req')!), 'Query'));
      if (orphans.includes(query)) {
        judged.push({
          table,
          query,
          reason: 'a span whose parent is of zeros is a root here, and no orphan',
        });
        continue;
      }
      const [trace] = elements(named(fieldsOf(value), 'expected'));
      const want = elements(named(fieldsOf(trace!), 'SpanSets')).map(spansetOf);
      const wrong = await wrongWith(async () => {
        const got = ((await found(service, { query }))?.spanSets ?? []).map(answeredSpanset);
        const [a, b] = [got, want].map((spansets) =>
          JSON.stringify(spansets.map((one: unknown) => JSON.stringify(one)).sort()),
        );
        return a === b || `${a} instead of ${b}`;
      });
      judged.push({ table, query, ...wrong });
    }
  }
  return judged;
}

async function judgedTags(service: Service, source: string): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const fields of tableOf(source, 'tagValuesRunner')) {
    const query = plainText(named(fields, 'query'));
    const tag = plainText(
      (named(fields, 'tag') as { readonly args: readonly GoValue[] }).args.at(-1),
    );
    const want = elements(named(fields, 'expected')).map((one) =>
      plainText(named(fieldsOf(one), 'Value')),
    );
    const table = 'tagValuesRunner';
    if (plainText(named(fields, 'name')).startsWith('unscoped')) {
      judged.push({ table, query, reason: 'what filters by no scope filters nothing there' });
      continue;
    }
    const asked = {
      tag: `${tag.startsWith('span') ? 'span' : 'resource'}.${tag.replace(/^resource\./, '')}`,
      query,
      version: 2 as const,
      ...everything,
    };
    const wrong = await wrongWith(async () => {
      const got = jsonOf(await service.methods.tagValuesJson(asked, noCall)).tagValues.map(
        ({ value }: Loose) => value as string,
      );
      const same = JSON.stringify(got.toSorted()) === JSON.stringify(want.toSorted());
      return same || `${got.join(', ')} instead of ${want.join(', ')}`;
    });
    judged.push({ table, query, ...wrong });
  }
  for (const fields of tableOf(source, 'tagNamesRunner')) {
    judged.push({
      table: 'tagNamesRunner',
      query: plainText(named(fields, 'query')),
      reason: 'names that have columns of their own in its blocks are told whatever is asked',
    });
  }
  return judged;
}

/** Tests each condition alone and next to another; both must agree about the root. */
async function judgedConditions(service: Service, source: string): Promise<Judged[]> {
  const table = 'traceQLExistence';
  const body = functionBody(source, table);
  const judged: Judged[] = [];
  for (const { value } of literalAt(body, /containsRootSpan bool\n\t\}\{/)) {
    const condition = plainText(named(fieldsOf(value), 'condition'));
    const root = JSON.stringify(named(fieldsOf(value), 'containsRootSpan')).includes('true');
    for (const query of [`{${condition}}`, `{ .child } < {${condition}}`]) {
      const wrong = await wrongWith(async () => {
        const spans = ((await found(service, { query }))?.spanSets ?? []).flatMap((one: Loose) =>
          one.spans.map(({ spanID }: Loose) => spanID as string),
        );
        return (
          spans.includes('0000000000040506') === root ||
          `the root is ${root ? 'not ' : ''}among them`
        );
      });
      judged.push({ table, query, ...wrong });
    }
  }
  for (const { value } of literalAt(body, /searchesThatMatch := \[\]\*test\{/)) {
    const query = plainText(named(fieldsOf(named(fieldsOf(value), 'req')!), 'Query'));
    judged.push({
      table,
      query,
      ...(await wrongWith(
        async () => (await found(service, { query })) !== undefined || 'not found',
      )),
    });
  }
  return judged;
}

async function wrongWith(
  holds: () => Promise<string | boolean>,
): Promise<{ readonly wrong?: string }> {
  try {
    const told = await holds();
    return told === true ? {} : { wrong: String(told) };
  } catch (error) {
    return { wrong: messageOf(error) };
  }
}

const everything = { start: shiftSeconds * 1_000, end: (shiftSeconds + 10_000) * 1_000 };

async function found({ methods }: Service, { start, end, ...asked }: Asked): Promise<Loose> {
  const window = {
    start: start === undefined ? everything.start : start * 1_000,
    end: end === undefined ? everything.end : end * 1_000,
  };
  const { traces } = jsonOf(
    await methods.searchJson({ ...asked, ...window, limit: 1_000, spansPerSpanSet: 1_000 }, noCall),
  );
  const one = traces.find(({ traceID }: Loose) => traceID === traceId);
  const meta = one && [
    one.rootServiceName,
    one.rootTraceName,
    one.durationMs,
    one.startTimeUnixNano,
  ];
  if (
    meta &&
    JSON.stringify(meta) !== JSON.stringify(['RootService', 'RootSpan', 2_000, nanos(1_000e9)])
  ) {
    throw new Error(`the trace is told as ${JSON.stringify(meta)}`);
  }
  return one;
}
