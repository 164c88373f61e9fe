export interface Token {
  /** `word` is bare; `name` and `string` were quoted, and either may name a table in SQLite. */
  readonly kind: 'word' | 'name' | 'string' | 'other';
  /** Text without quotes; words and names in lower case, as SQLite compares them. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const lexeme =
  /(?<space>[ \t\n\f\r\uFEFF]+|--[^\n]*|\/\*[^*]*(?:\*+[^*/][^*]*)*(?:\*+\/|$))|'(?<string>[^']*(?:''[^']*)*)'|"(?<double>[^"]*(?:""[^"]*)*)"|`(?<tick>[^`]*(?:``[^`]*)*)`|\[(?<bracket>[^\]]*)\]|(?<word>[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*)|[?:@$#\d][\w$.\u0080-\uFFFF]*|[^]/gy;

/** Splits SQL as SQLite's own tokenizer does, as far as names are concerned. */
export function* tokens(sql: string): Generator<Token> {
  for (const match of sql.matchAll(lexeme)) {
    const { space, string, double, tick, bracket, word } = match.groups!;
    if (space !== undefined) {
      continue;
    }
    const place = { start: match.index, end: match.index + match[0].length };
    if (word !== undefined) {
      yield { kind: 'word', text: word.toLowerCase(), ...place };
    } else if (string !== undefined) {
      yield { kind: 'string', text: string.replaceAll("''", "'").toLowerCase(), ...place };
    } else {
      const name = double?.replaceAll('""', '"') ?? tick?.replaceAll('``', '`') ?? bracket;
      yield name === undefined
        ? { kind: 'other', text: match[0], ...place }
        : { kind: 'name', text: name.toLowerCase(), ...place };
    }
  }
}

/** Everything in `sql` that SQLite could take for the name of a table. */
export function* names(sql: string): Generator<string> {
  for (const token of tokens(sql)) {
    if (token.kind !== 'other') {
      yield token.text;
    }
  }
}

export interface SqlStatement {
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** The statements of a script; a trigger's body belongs to its statement. */
export function statements(script: string): SqlStatement[] {
  const found: SqlStatement[] = [];
  let current: Token[] = [];
  const finish = (end: number): void => {
    if (current.length > 0) {
      found.push({ text: script.slice(current[0]!.start, end), tokens: current });
    }
    current = [];
  };
  for (const token of tokens(script)) {
    if (token.text === ';' && token.kind === 'other' && isComplete(current)) {
      finish(token.start);
    } else {
      current.push(token);
    }
  }
  finish(script.length);
  return found;
}

/** SQLite's own rule: a trigger ends at `END` that follows a semicolon. */
function isComplete(statement: readonly Token[]): boolean {
  const start = statement.slice(0, 3).map(({ kind, text }) => (kind === 'word' ? text : ''));
  const isTrigger =
    start[0] === 'create' &&
    (start[1] === 'trigger' || (start[1]?.startsWith('temp') && start[2] === 'trigger'));
  const [semicolon, end] = statement.slice(-2);
  return (
    !isTrigger ||
    (end?.kind === 'word' &&
      end.text === 'end' &&
      semicolon?.kind === 'other' &&
      semicolon.text === ';')
  );
}

/** `OR ROLLBACK`, `ON CONFLICT ROLLBACK`, `RAISE(ROLLBACK, …)`: they end the whole transaction, which others share. */
export const rollsBackOthers = (statement: readonly Token[]): boolean =>
  /\b(or|conflict|raise) rollback\b/.test(wordsOf(statement).join(' '));

export const wordsOf = (statement: readonly Token[]): string[] =>
  statement.filter(({ kind }) => kind === 'word').map(({ text }) => text);
