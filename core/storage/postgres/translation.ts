import type { Connection } from '../sqlite/connection.ts';
import { definition } from './definition.ts';
import { refused } from './errors.ts';
import { functions } from './functions.ts';
import { Tables } from './tables.ts';
import { is, next, parts, quoted, type Word, wordsIn, written } from './words.ts';

/** A statement as Postgres is asked it. */
export interface Translated {
  readonly text: string;
  /** True if its rows are what was asked for. */
  readonly isReader: boolean;
  /** True if it changes nothing. */
  readonly isQuery: boolean;
  /** Column in which an insert gives each row its number. */
  readonly numbered?: string | undefined;
  /** Statement that follows, so that numbers go on after those that were given. */
  readonly after?: string | undefined;
}

/** Functions of SQLite that mean the same in Postgres, or whose difference nobody here can see. */
const same = new Set([
  ...['abs', 'avg', 'coalesce', 'count', 'dense_rank', 'first_value', 'lag', 'last_value', 'lead'],
  ...[
    'length',
    'lower',
    'ltrim',
    'nullif',
    'rank',
    'replace',
    'row_number',
    'rtrim',
    'sum',
    'trim',
  ],
  ...['ceil', 'floor', 'upper'],
]);

/** Words before a parenthesis that call nothing. */
const grammar = new Set([
  ...['all', 'and', 'any', 'as', 'by', 'case', 'check', 'conflict', 'default', 'distinct', 'else'],
  ...['except', 'exists', 'filter', 'from', 'generated', 'having', 'in', 'intersect', 'into', 'is'],
  ...['join', 'key', 'limit', 'materialized', 'not', 'offset', 'on', 'or', 'over', 'partition'],
  ...['returning', 'select', 'set', 'then', 'union', 'unique', 'using', 'values', 'when', 'where'],
  ...['between', 'like', 'ilike', 'always', 'references'],
]);

/** Reserved in Postgres and not in SQLite: as names they are quoted. */
const reserved = new Set([
  ...['analyse', 'any', 'array', 'asymmetric', 'authorization', 'binary', 'both', 'concurrently'],
  ...['fetch', 'for', 'freeze', 'grant', 'lateral', 'leading', 'localtime', 'only', 'overlaps'],
  ...['placing', 'session_user', 'similar', 'some', 'symmetric', 'tablesample', 'trailing'],
  ...['user', 'variadic', 'verbose'],
]);

const truths = ['=', '<', '>', '<=', '>=', '<>', '!=', '==', 'and', 'or', 'not', 'exists', 'in'];
const afterPattern = ['and', 'or', 'then', 'when', 'else', 'end', 'order', 'group', 'limit'];
const pastPattern = [...afterPattern, 'having', 'union', 'escape', 'returning', ',', ';', '='];
const afterOrder = ['limit', 'offset', 'union', 'except', 'intersect', 'rows', 'range', 'groups'];
const pastOrder = [...afterOrder, 'returning', 'on', ';'];

/**
 * Says in Postgres what was written for SQLite: statements word by word, and definitions of tables. What it does not know it
 * refuses; what it leaves as it is, Postgres refuses.
 */
export class Translation {
  readonly schema: string;
  readonly tables: Tables;

  constructor(schema: string, connection: Connection) {
    this.schema = quoted(schema);
    this.tables = new Tables(connection);
  }

  statement(sql: string): Translated {
    const words = wordsIn(sql);
    const verb = words[0]?.text;
    if (verb === 'create' || verb === 'alter' || verb === 'drop') {
      return { text: definition(words, this), isReader: false, isQuery: false };
    }
    this.phrase(words);
    const main = mainVerb(words);
    if (main === undefined) {
      throw refused(`it begins with "${verb ?? ''}"`);
    }
    const isQuery = main.text === 'select' || main.text === 'values';
    const isReader = isQuery || words.some((word) => is(word, 'returning') && word.depth === 0);
    return main.text === 'insert'
      ? this.#insert(words, words.indexOf(main), isReader)
      : { text: written(words), isReader, isQuery };
  }

  /** Translates words that may be any part of a statement. */
  phrase(words: readonly Word[]): void {
    let parameters = 0;
    words.forEach((word, at) => {
      const before = words[at - 1];
      const after = words[at + 1];
      if (word.kind === 'other') {
        parameters += this.#sign(word, words, at, parameters);
      } else if (word.kind === 'name' || word.kind === 'word') {
        if (
          is(after, '(') &&
          word.kind === 'word' &&
          !this.tables.has(word.text) &&
          !is(before, 'with')
        ) {
          this.#call(words, at);
        } else {
          this.#name(word, before, after);
        }
      }
    });
    // These add to words that have been said.
    words.forEach((_, at) => this.#keyword(words, at));
  }

  #sign(word: Word, words: readonly Word[], at: number, parameters: number): number {
    const { source } = word;
    if (source === '?') {
      word.out = `$${parameters + 1}`;
      return 1;
    }
    if (/^[?:@$#]/.test(source)) {
      throw refused(`it names its parameter ${source}`);
    }
    if (source === '==') {
      word.out = '=';
    } else if (source === '->>' || source === '->') {
      word.out = ` operator(${this.schema}.${source}) `;
    } else if (source === '(' && is(words[at - 1], 'in') && is(words[at + 1], ')')) {
      const isNot = is(words[at - 2], 'not');
      words[at - 1]!.out = isNot ? '<> all' : '= any';
      words[at - (isNot ? 2 : 1)]!.out = isNot ? '' : '= any';
      word.out = `('{}'`;
    }
    return 0;
  }

  #name(word: Word, before: Word | undefined, after: Word | undefined): void {
    if (word.kind === 'name') {
      word.out = quoted(word.source.slice(1, -1).replaceAll('""', '"'));
    } else if (
      reserved.has(word.text) ||
      (/[a-z]/.test(word.source) && /[A-Z]/.test(word.source))
    ) {
      word.out = quoted(word.source);
    }
    if (this.tables.has(word.text) && !is(before, '.', 'as') && !is(after, '.')) {
      word.out = `${this.schema}.${word.out}`;
    }
  }

  #call(words: readonly Word[], at: number): void {
    const word = words[at]!;
    const name = word.text;
    const end = next(words, at + 2, word.depth, ')');
    const given = parts(words, at + 2, end, word.depth + 1).length;
    if (name === 'cast') {
      this.#cast(words, at, end);
    } else if (functions.has(name) || ((name === 'max' || name === 'min') && given > 1)) {
      word.out = `${this.schema}.${quoted(name)}`;
    } else if (!same.has(name) && name !== 'max' && name !== 'min' && !grammar.has(name)) {
      throw refused(`${name}() has no counterpart there`);
    }
  }

  /** A cast in SQLite never fails: text that is no number is 0. */
  #cast(words: readonly Word[], at: number, end: number): void {
    const as = words.findLastIndex(
      (word, index) =>
        index < end && index > at && is(word, 'as') && word.depth === words[at]!.depth + 1,
    );
    const type = words[as + 1]!;
    if (type.text === 'integer' || type.text === 'real') {
      words[at]!.out = `${this.schema}.to_${type.text}`;
      words[as]!.out = '';
      type.out = '';
    } else if (type.text !== 'text') {
      throw refused(`it casts to ${type.text}`);
    }
  }

  #keyword(words: readonly Word[], at: number): void {
    const word = words[at]!;
    if (word.kind !== 'word' || is(words[at - 1], '.')) {
      return;
    }
    const after = words[at + 1];
    switch (word.text) {
      case 'like':
        this.#like(words, at);
        break;
      case 'is':
        isDistinct(words, at);
        break;
      case 'order':
        if (is(after, 'by')) {
          this.#order(words, at + 2);
        }
        break;
      case 'set':
        // "on delete set null" sets no column.
        if (!is(after, 'null', 'default')) {
          this.#set(words, at);
        }
        break;
      case 'values':
        named(words, at);
        break;
      case 'indexed':
        if (is(words[at - 1], 'not')) {
          words[at - 1]!.out = word.out = '';
        } else if (is(after, 'by')) {
          word.out = after!.out = '';
          words[at + 2]!.text = words[at + 2]!.out = '';
        }
        break;
      case 'collate':
        if (after?.text === 'nocase') {
          after.text = '';
          after.out = `${this.schema}.nocase`;
        } else if (after?.text === 'binary') {
          after.text = '';
          after.out = '"C"';
        }
        break;
      case 'glob':
      case 'match':
      case 'regexp':
        throw refused(`it uses ${word.text}`);
    }
  }

  /** SQLite compares without case, and nothing escapes unless it is said what. */
  #like(words: readonly Word[], at: number): void {
    const { depth } = words[at]!;
    words[at]!.out = 'ilike';
    const end = next(words, at + 1, depth, ...pastPattern);
    if (!is(words[end], 'escape') || words[end]!.depth !== depth) {
      words[end - 1]!.out += ` escape ''`;
    }
  }

  /** SQLite stores a comparison as 0 or 1. */
  #set(words: readonly Word[], at: number): void {
    const { depth } = words[at]!;
    const end = next(words, at + 1, depth, 'where', 'from', 'returning', ';');
    for (const [from, to] of parts(words, at + 1, end, depth)) {
      const value = words.slice(from + 2, to);
      const own = value.filter((word) => word.depth === depth);
      const isTruth =
        own.some((word) => is(word, ...truths)) && !own.some((word) => is(word, 'case'));
      if (isTruth) {
        value[0]!.out = `${this.schema}.to_integer(${value[0]!.out}`;
        value.at(-1)!.out += ')';
      }
    }
  }

  #order(words: readonly Word[], from: number): void {
    const { depth } = words[from]!;
    const end = next(words, from, depth, ...pastOrder);
    for (const [start, stop] of parts(words, from, end, depth)) {
      this.nulls(words, start, stop);
    }
  }

  /** Puts NULL where SQLite has it: it is the smallest value of all. */
  nulls(words: readonly Word[], start: number, stop: number): void {
    const last = words[stop - 1]!;
    const isDown = is(last, 'desc');
    const term = words.slice(start, isDown || is(last, 'asc') ? stop - 1 : stop);
    if (!is(last, 'first', 'last') && !this.#isNeverNull(term, words)) {
      last.out += isDown ? ' nulls last' : ' nulls first';
    }
  }

  /** Saying where NULLs go keeps Postgres from using a key, so it is said only where there may be any. */
  #isNeverNull(term: readonly Word[], words: readonly Word[]): boolean {
    const isColumn = term.length === 1 || (term.length === 3 && is(term[1], '.'));
    return (
      isColumn &&
      !words.some((word) => is(word, 'left', 'full')) &&
      this.tables.isNeverNull(
        term.at(-1)!.text,
        words.map(({ text }) => text),
      )
    );
  }

  #insert(words: readonly Word[], at: number, isReader: boolean): Translated {
    if (!is(words[at + 1], 'into')) {
      throw refused('"insert or …" is SQLite alone; write "insert into … on conflict …"');
    }
    const table = words[at + 2]!.text;
    const numbered = this.tables.numbered(table);
    const list = is(words[at + 3], '(') ? next(words, at + 4, words[at]!.depth, ')') : at + 3;
    const isGiven =
      numbered !== undefined && words.slice(at + 3, list).some(({ text }) => text === numbered);
    const place = `${this.schema}.${quoted(table)}`;
    const column = quoted(numbered ?? '');
    return {
      text: written(words) + (numbered === undefined || isReader ? '' : ` returning ${column}`),
      isReader,
      isQuery: false,
      numbered: isReader ? undefined : numbered,
      after: isGiven
        ? `select setval(s, m) from (select pg_get_serial_sequence('${place}', '${numbered}')::regclass as s, max(${column}) as m from ${place}) as t where m >= coalesce(pg_sequence_last_value(s), 1)`
        : undefined,
    };
  }
}

/** The verb of a statement, behind whatever is named before it. */
function mainVerb(words: readonly Word[]): Word | undefined {
  const isVerb = (word: Word): boolean =>
    word.depth === 0 && is(word, 'select', 'insert', 'update', 'delete', 'values');
  return is(words[0], 'with') ? words.find(isVerb) : words.slice(0, 1).find(isVerb);
}

/** Rows that are written down are a table, which needs a name before Postgres 16. */
function named(words: readonly Word[], at: number): void {
  const open = words[at - 1];
  if (is(open, '(') && is(words[at - 2], 'from', 'join', ',')) {
    const close = next(words, at, open!.depth, ')');
    const after = words[close + 1];
    if (
      after === undefined ||
      (after.kind === 'word' && !is(after, 'as')) ||
      is(after, ',', ';', ')')
    ) {
      words[close]!.out += ' as given';
    }
  }
}

/** `IS` compares any two values. */
function isDistinct(words: readonly Word[], at: number): void {
  const isNot = is(words[at + 1], 'not');
  const what = words[at + (isNot ? 2 : 1)];
  if (!is(what, 'null', 'true', 'false', 'distinct')) {
    words[at]!.out = isNot ? 'is distinct from' : 'is not distinct from';
    if (isNot) {
      words[at + 1]!.out = '';
    }
  }
}
