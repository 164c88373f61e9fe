import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import { isSvcError, messageOf } from 'svc/sdk';

import { parse, printQuery } from '../../../../plugins/traces/traceql/index.ts';

const complaint = (query: string): string => {
  try {
    parse(query);
  } catch (error) {
    assert.ok(isSvcError(error), `${query} fails with ${messageOf(error)}`);
    assert.equal(error.code, 'invalid_argument');
    assert.match(error.message, /^invalid TraceQL query: /);
    return error.message.slice('invalid TraceQL query: '.length);
  }
  return 'accepted';
};

describe('a query that reads', () => {
  /** Text, and how it is printed; the same where there is no second. */
  const accepted: readonly (readonly [string, string?])[] = [
    ['{}', '{ }'],
    ['{ .a = 1 }'],
    ['{ .a = "x" }', '{ .a = `x` }'],
    ['{ .a = "`" }'],
    ['{ span."with space" = `raw\\n` }'],
    [
      '{ resource.service.name =~ "a.*" && span.http.status_code >= 400 }',
      '{ (resource.service.name =~ `a.*`) && (span.http.status_code >= 400) }',
    ],
    ['{ .a || .b && .c }', '{ (.a || .b) && .c }'],
    ['{ !.a = true }', '{ !.a = true }'],
    ['{ -.a * 2 + 1 = 3 }', '{ (-(.a * 2) + 1) = 3 }'],
    ['{ 2 ^ 3 ^ 2 = 512 }', '{ (2 ^ (3 ^ 2)) = 512 }'],
    ['{ 1 + 2 * 3 = 7 }', '{ (1 + (2 * 3)) = 7 }'],
    [
      '{ duration > 1h30m && traceDuration < 1.5s }',
      '{ (duration > 1h30m) && (traceDuration < 1.5s) }',
    ],
    ['{ span:duration > 1d }'],
    [
      '{ event:name = "x" && link:traceID != "y" && instrumentation:version = "1" }',
      '{ ((event:name = `x`) && (link:traceID != `y`)) && (instrumentation:version = `1`) }',
    ],
    [
      '{ event.a = 1 && link.b = 2 && instrumentation.c = 3 && parent.d = 4 && parent.resource.e = 5 }',
      '{ ((((event.a = 1) && (link.b = 2)) && (instrumentation.c = 3)) && (parent.d = 4)) && (parent.resource.e = 5) }',
    ],
    [
      '{ kind = server && status = error || status != unset }',
      '{ ((kind = server) && (status = error)) || (status != unset) }',
    ],
    ['{ .a != nil && nil = .b }', '{ (.a != nil) && (nil = .b) }'],
    ['{ .a } && { .b } || { .c }', '({ .a } && { .b }) || { .c }'],
    ['{ .a } && { .b } >> { .c }', '{ .a } && ({ .b } >> { .c })'],
    ...[
      '>',
      '>>',
      '<',
      '<<',
      '~',
      '!>',
      '!>>',
      '!<',
      '!<<',
      '!~',
      '&>',
      '&>>',
      '&<',
      '&<<',
      '&~',
    ].map((sign) => [`{ .a } ${sign} { .b }`] as const),
    ['({ .a } | count() > 2) && { .b }', '({ .a } | count() > 2) && { .b }'],
    [
      '{ .a } | by(.b, resource.c) | coalesce() | select(span.d, name) | avg(duration) * 2 > 1s',
      '{ .a } | by(.b, resource.c) | coalesce() | select(span.d, name) | avg(duration) * 2 > 1s',
    ],
    ['by(.a) | count() > 1'],
    ['count() > 1'],
    ['(max(.a) - min(.a)) / 2 >= -1.5', '(max(.a) - min(.a)) / 2 >= -1.5'],
    ['{ } | rate()'],
    [
      '{ } | quantile_over_time(duration, 0.5, .99) by(resource.service.name) | topk(3)',
      '{ } | quantile_over_time(duration, 0.5, 0.99) by(resource.service.name) | topk(3)',
    ],
    ['{ } | histogram_over_time(span.size)'],
    ['{ .a } with(most_recent=true)'],
    ['{ } | rate() with(most_recent=true, exemplars=5)'],
    ['{ } | rate() with(exemplars=false)'],
    ['{ } | compare({ status = error }, 10)'],
    ['{ } | compare({ }, 3, 1795200000000000000, 1795200060000000000)'],
    ['{ .a // said beside\n = 1 }', '{ .a = 1 }'],
    ['{ .größe = "ö" }', '{ .größe = `ö` }'],
  ];
  for (const [text, printed = text] of accepted) {
    test(text, () => {
      assert.equal(printQuery(parse(text)), printed);
      assert.equal(printQuery(parse(printed)), printed);
    });
  }
});

describe('a query that does not read says where and why', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'parse error at line 1, col 1: syntax error: unexpected $end'],
    ['{', 'parse error at line 1, col 2: syntax error: unexpected $end'],
    ['{foo', 'parse error at line 1, col 2: unknown identifier: foo'],
    ['{ .a = 1\n && foo }', 'parse error at line 2, col 5: unknown identifier: foo'],
    ['{ .a = "x }', 'parse error at line 1, col 8: literal not terminated'],
    ['{ .a = "\\q" }', 'parse error at line 1, col 9: invalid char escape'],
    [
      '{ . }',
      'parse error at line 1, col 4: syntax error: unexpected END_ATTRIBUTE, expecting IDENTIFIER',
    ],
    ['{ span:nope = 1 }', 'parse error at line 1, col 3: unknown identifier: span:nope'],
    ['{ .a = 1 } }', 'parse error at line 1, col 12: syntax error: unexpected }'],
    ['{ .a = 1 } | nope()', 'parse error at line 1, col 14: syntax error: unexpected IDENTIFIER'],
    ['{ .a = 1 } | by()', 'parse error at line 1, col 17: syntax error: unexpected )'],
    [
      '{ } | rate() | rate()',
      'parse error at line 1, col 16: syntax error: unexpected rate, expecting topk or bottomk',
    ],
    ['{ } | topk(3)', 'parse error at line 1, col 7: syntax error: unexpected topk'],
    [
      '{ } | rate() | topk(0)',
      'parse error at line 1, col 21: topk limit must be between 1 and 1000',
    ],
    [
      '{ } | quantile_over_time(duration)',
      'parse error at line 1, col 34: syntax error: unexpected ), expecting ,',
    ],
    [
      '{ } | quantile_over_time(duration, 1.5)',
      'parse error at line 1, col 36: a quantile lies between 0 and 1, and 1.5 does not',
    ],
    ['{ # }', 'parse error at line 1, col 3: syntax error: unexpected "#"'],
    ['{ "x" }', 'span filter field expressions must resolve to a boolean: `x`'],
    ['{ 1 + 1 }', 'span filter field expressions must resolve to a boolean: 1 + 1'],
    ['{ name > 1 }', 'binary operations must operate on the same type: name > 1'],
    ['{ status > error }', 'illegal operation for the given types: status > error'],
    ['{ true < false }', 'illegal operation for the given types: true < false'],
    ['{ .a > nil }', 'illegal operation for the given types: .a > nil'],
    ['{ name + "x" = "y" }', 'illegal operation for the given types: name + `x`'],
    ['{ -"x" = "y" }', 'illegal operation for the given type: -`x`'],
    ['{ .a =~ 1 }', 'illegal operation for the given types: .a =~ 1'],
    ['{ .a =~ .b }', 'the right side of =~ must be a string: .a =~ .b'],
    ['{ parent = nil }', 'intrinsic (parent) not yet supported'],
    ['{ span:status = nil }', 'span:status=nil is not valid because intrinsics cannot be nil'],
    ['{ nil = name }', 'name=nil is not valid because intrinsics cannot be nil'],
    [
      '{ resource.service.name = nil }',
      'resource.service.name=nil is not valid because every resource has it',
    ],
    ['{ } | avg(name) > 1', 'aggregate field expressions must resolve to a number type: avg(name)'],
    ['{ } | sum(3) > 1', 'aggregate field expressions must reference the span: sum(3)'],
    ['{ } | by(1)', 'grouping field expressions must reference the span: by(1)'],
    ['{ } | select(1 + .a)', 'select takes attributes and intrinsics: select(1 + .a)'],
    ['{ } | 1 > 2', 'scalar filters must aggregate spans: 1 > 2'],
    [
      '{ } with(fast=true)',
      'there is no hint "fast" at line 1, col 10: there are most_recent, exemplars and sample',
    ],
    ['{ } | compare({ }) | topk(1)', 'parse error at line 1, col 22: nothing can follow compare()'],
    [
      '{ } with(most_recent=false)',
      'parse error at line 1, col 22: most_recent can only be true: a search always answers with the newest traces first',
    ],
  ];
  for (const [query, message] of refused) {
    test(JSON.stringify(query), () => assert.equal(complaint(query), message));
  }

  test('a bad pattern, with the reason of the pattern', () =>
    assert.match(complaint('{ .a =~ "(" }'), /\.a =~ `\(`$/));
  test('one that nests too deep', () =>
    assert.match(complaint(`{ ${'('.repeat(5000)}`), /nested more than 128 levels deep/));
  test('one that is too long', () =>
    assert.match(complaint(`{ .a = "${'x'.repeat(70_000)}" }`), /65536 are the limit/));
});

test('whatever is typed is read or refused, and what is read prints as itself', () => {
  const pieces = [
    '{',
    '}',
    '(',
    ')',
    '|',
    '&&',
    '||',
    '>>',
    '!~',
    '&>',
    '=',
    '!=',
    '=~',
    '<',
    '-',
    '!',
    '.a',
    'span.b',
    '"x"',
    '1',
    '2.5',
    '10ms',
    'nil',
    'true',
    'error',
  ];
  const more = [
    'duration',
    'name',
    'count()',
    'avg(duration)',
    'by(.a)',
    'coalesce()',
    'rate()',
    'topk(2)',
    'foo',
    ',',
    'with(most_recent=true)',
    '`',
    '\\',
    'parent.x',
    'event:name',
    '\u0000',
    'é',
  ];
  const text = fc.oneof(
    fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 14 }).map((list) => list.join(' ')),
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  fc.assert(
    fc.property(text, (query) => {
      if (complaint(query) === 'accepted') {
        const printed = printQuery(parse(query));
        assert.equal(printQuery(parse(printed)), printed);
      }
    }),
    { numRuns: 3000 },
  );
});
