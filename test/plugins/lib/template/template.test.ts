import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { compileTemplate, formatGoFloat, templateFunction } from 'svc/template';

const data = {
  name: 'web',
  n: 3n,
  f: 2.5,
  big: 1_500_000,
  on: true,
  off: false,
  nothing: null,
  list: ['a', 'b', 'c'],
  empty: [],
  labels: new Map([
    ['host', 'h1'],
    ['job', 'node'],
  ]),
  deep: { er: { est: 'x' } },
};

const render = (text: string): string =>
  compileTemplate(text, { variables: ['v', 'labels'] }).render(data, {
    v: 0.1 + 0.2,
    labels: data.labels,
  });

const cases: readonly [what: string, template: string, expected: string][] = [
  ['plain text stays', 'no actions here }} at all', 'no actions here }} at all'],
  ['a field', 'name={{.name}}', 'name=web'],
  ['a field of a field', '{{ .deep.er.est }}', 'x'],
  ['a field that is not there is empty', '[{{.missing}}]', '[]'],
  ['a Map and an object look alike', '{{.labels.host}} {{$labels.job}}', 'h1 node'],
  ['the dollar alone is the data', '{{with .deep}}{{$.name}}{{end}}', 'web'],
  [
    'variables live until their block ends',
    '{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}',
    '21',
  ],
  ['a variable can be set from within', '{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}', '2'],
  ['if and else', '{{if .off}}a{{else}}b{{end}}', 'b'],
  ['else if', '{{if .off}}a{{else if .on}}b{{else}}c{{end}}', 'b'],
  ['an empty list counts as false', '{{if .empty}}a{{else}}b{{end}}', 'b'],
  ['with changes the dot', '{{with .deep.er}}{{.est}}{{else}}none{{end}}', 'x'],
  ['with and nothing', '{{with .missing}}x{{else}}none{{end}}', 'none'],
  ['else with', '{{with .missing}}x{{else with .name}}{{.}}{{end}}', 'web'],
  ['range over a list', '{{range .list}}<{{.}}>{{end}}', '<a><b><c>'],
  ['range with index and value', '{{range $i, $x := .list}}{{$i}}{{$x}} {{end}}', '0a 1b 2c '],
  [
    'range over a map goes by key',
    '{{range $k, $v := .labels}}{{$k}}={{$v}};{{end}}',
    'host=h1;job=node;',
  ],
  ['range over nothing', '{{range .empty}}x{{else}}none{{end}}', 'none'],
  ['range over a number', '{{range 3}}{{.}}{{end}}', '012'],
  [
    'break and continue',
    '{{range .list}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{if eq . "c"}}{{break}}{{end}}{{end}}',
    'ac',
  ],
  [
    'break leaves only the inner range',
    '{{range .list}}{{range $.list}}{{break}}{{end}}{{.}}{{end}}',
    'abc',
  ],
  ['trim markers', 'a \n {{- .name -}} \n b', 'awebb'],
  ['a minus without a blank is a sign', '{{-1}}', '-1'],
  ['comments', 'a{{/* nothing }} here */}}b{{- /* x */ -}} c', 'abc'],
  ['pipelines', '{{.name | printf "%s-%s" "x"}}', 'x-web'],
  ['parentheses', '{{printf "%d" (len (print .name "s"))}}', '4'],
  ['a field of a parenthesis', '{{(index .deep "er").est}}', 'x'],
  [
    'strings, raw strings and characters',
    '{{"a\\tb\\u00e9"}}{{`c\\n`}}{{\'a\'}}',
    'a\tbé' + 'c\\n97',
  ],
  [
    'numbers',
    '{{1}} {{-2}} {{0x1F}} {{1_000}} {{1.0}} {{1e3}} {{2.5}} {{.5}} {{0b101}} {{0o17}}',
    '1 -2 31 1000 1 1000 2.5 0.5 5 15',
  ],
  [
    'large floats print as Go prints them',
    '{{.big}} {{1e20}} {{0.0001}} {{0.00001}} {{123456.0}} {{$v}}',
    '1.5e+06 1e+20 0.0001 1e-05 123456 0.30000000000000004',
  ],
  [
    'true, false and nil',
    '{{true}} {{false}} {{eq nil nil}} {{print nil}}',
    'true false true <nil>',
  ],
  ['lists and maps', '{{.list}} {{.labels}}', '[a b c] map[host:h1 job:node]'],
  [
    'eq with many',
    '{{eq .name "a" "web"}} {{eq .n 3}} {{ne .n 3}} {{eq 1 1.0}}',
    'true true false true',
  ],
  [
    'order',
    '{{lt 1 2}} {{le 2 2}} {{gt .f 2}} {{ge "b" "a"}} {{lt 2.5 2}}',
    'true true true true false',
  ],
  ['and, or, not', '{{and 1 0}} {{and 1 2}} {{or 0 "x"}} {{or 0 ""}}| {{not 1}}', '0 2 x | false'],
  ['and does not look further than it must', '{{and false (index .list 9)}}', 'false'],
  ['a pipe into and', '{{1 | and true}}', '1'],
  ['len', '{{len "é"}} {{len .list}} {{len .labels}}', '2 3 2'],
  [
    'index',
    '{{index .list 1}} {{index .labels "job"}} {{index .deep "er" "est"}} {{index "a" 0}}',
    'b node x 97',
  ],
  ['slice', '{{slice "abcdef" 1 3}} {{slice .list 1}}', 'bc [b c]'],
  ['print and println', '{{print 1 2 "a" "b" 3}}|{{println "a" 1}}', '1 2ab3|a 1\n'],
  [
    'html, js, urlquery',
    `{{html "<a&'>"}} {{js "it's <b>"}} {{urlquery "a b&c/é"}}`,
    "&lt;a&amp;&#39;&gt; it\\'s \\u003Cb\\u003E a+b%26c%2F%C3%A9",
  ],
  [
    'printf with texts',
    '{{printf "%s|%q|%10s|%-10s|%.2s|%x|%v" "ab" "a\\"b" "r" "l" "cut" "hi" "v"}}',
    'ab|"a\\"b"|         r|l         |cu|6869|v',
  ],
  [
    'printf with ints',
    '{{printf "%d|%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c|%U|%q" 42 42 42 42 42 255 255 8 5 65 65 65}}',
    "42|   42|42   |00042|+42|ff|FF|10|101|A|U+0041|'A'",
  ],
  [
    'printf with floats',
    '{{printf "%f|%.2f|%8.3f|%e|%.1e|%g|%G|%v|%06.1f|%+.1f" 1.5 1.005 3.14159 123456.789 0.00015 1e21 1e-7 100000.0 -2.25 2.0}}',
    '1.500000|1.00|   3.142|1.234568e+05|1.5e-04|1e+21|1E-07|100000|-002.2|+2.0',
  ],
  ['printf of nothing', '{{printf "%.4g %g %.2e %.1f" 0.0 0.0 0.0 0.0}}', '0 0 0.00e+00 0.0'],
  [
    'printf rounds halves to even',
    '{{printf "%.0f %.0f %.0f %.1f %.3g %.2e" 0.5 1.5 2.5 0.25 1.125 1.125}}',
    '0 2 2 0.2 1.12 1.12e+00',
  ],
  [
    'printf with others',
    '{{printf "%t %v %v %% %T %T %T" true nil .list "x" 1 1.5}}',
    'true <nil> [a b c] % string int float64',
  ],
  [
    'printf says what does not fit',
    '{{printf "%d %s %f %z" "x" 1 2 3}} {{printf "%d"}} {{printf "a" 1}} {{printf "50%"}}',
    '%!d(string=x) %!s(int=1) %!f(int=2) %!z(int=3) %!d(MISSING) a%!(EXTRA int=1) 50%!(NOVERB)',
  ],
  [
    'printf with widths from arguments',
    '{{printf "%*d|%-*d|%.*f" 5 1 5 1 2 3.14159}}',
    '    1|1    |3.14',
  ],
];

for (const [what, template, expected] of cases) {
  test(`${what}: ${template}`, () => {
    assert.equal(render(template), expected);
  });
}

const refused: readonly [template: string, complaint: RegExp][] = [
  ['{{.a', /template:1:1: unclosed action/],
  ['line\n  {{ nope 1 }}', /template:2:6: function "nope" not defined/],
  ['{{$x}}', /template:1:3: undefined variable "\$x"/],
  ['{{if true}}x', /template:1:1: .*\{\{end\}\} is missing/],
  ['{{end}}', /unexpected \{\{end\}\}/],
  ['{{else}}', /unexpected \{\{else\}\}/],
  ['{{if}}x{{end}}', /missing value for if/],
  ['{{}}', /missing value for command/],
  ['{{. 1}}', /only a function takes arguments/],
  ['{{.a | .b}}', /only a function can stand after a pipe/],
  ['{{"a" 1}}', /only a function takes arguments/],
  ['{{"a}}', /unterminated quoted string/],
  ['{{`a}}', /unterminated raw quoted string/],
  ['{{"\\z"}}', /bad escape/],
  ['{{1a}}', /bad number syntax/],
  ['{{09}}', /bad number syntax/],
  ['{{99999999999999999999}}', /bad number syntax/],
  ['{{(1}}', /unexpected "}}" in parenthesized pipeline/],
  ['{{.a | }}', /missing value/],
  ['{{break}}', /outside \{\{range\}\}/],
  ['{{define "x"}}{{end}}', /not supported/],
  ['{{template "x"}}', /not supported/],
  ['{{/* never closed }}', /unclosed comment/],
  ['{{len}}', /wrong number of args for len: want 1 got 0/],
  ['{{1 | len 2}}', /wrong number of args for len: want 1 got 2/],
  ['{{..}}', /unexpected/],
  ['{{#}}', /unexpected "#"/],
  ['{{a.b}}', /function "a" not defined/],
  ['{{$x, $y := 1}}', /too many declarations/],
  ['{{"a"}}{{range .x}}{{else if true}}{{end}}', /unexpected/],
  ['{{'.repeat(3), /unexpected/],
  [`{{${'('.repeat(100)}1${')'.repeat(100)}}}`, /nested more than 64/],
  ['{{if 1}}'.repeat(100) + '{{end}}'.repeat(100), /nested more than 64/],
  ['x'.repeat(65_537), /the limit is 65536/],
];

for (const [template, complaint] of refused) {
  test(`refused with its place: ${template.slice(0, 60)}`, () => {
    assert.throws(() => compileTemplate(template), {
      code: 'invalid_argument',
      message: complaint,
    });
    assert.throws(() => compileTemplate(template), { message: /^template:\d+:\d+: / });
  });
}

const failing: readonly [template: string, complaint: RegExp][] = [
  ['{{.name.x}}', /template:1:3: can't evaluate field x in type string/],
  ['{{.missing.x}}', /nil data/],
  ['{{index .list 9}}', /error calling index: index out of range: 9/],
  ['{{lt 1 "a"}}', /incompatible types/],
  ['{{eq .list .list}}', /non-comparable/],
  ['{{len 5}}', /len of type int/],
  ['{{slice "abc" 2 1}}', /invalid slice index/],
  ['{{range .name}}x{{end}}', /can't iterate/],
  ['{{range 10000000}}{{end}}', /more than 100000 steps/],
  ['{{$x := "ab"}}{{range 60}}{{$x = print $x $x}}{{end}}', /more than \d+ (?:characters|steps)/],
  ['{{range 5000}}{{printf "%9999d" 1}}{{end}}', /grows past|steps/],
  ['{{printf "%99999999d" 1 | len | printf "%s" | boom}}', /error calling boom: no/],
];

for (const [template, complaint] of failing) {
  test(`fails with its place while rendering: ${template}`, () => {
    const boom = templateFunction(1, 1, () => {
      throw new Error('no');
    });
    const compiled = compileTemplate(template, { functions: new Map([['boom', boom]]) });
    assert.throws(() => compiled.render(data), { code: 'invalid_argument', message: complaint });
  });
}

test('nothing inherited and no function of the data is visible', () => {
  class Secret {
    password = 'x';
  }
  const hostile = { toString: () => 'called', secret: new Secret(), own: 1n };
  const text = compileTemplate(
    '[{{.constructor}}{{.__proto__}}{{.hasOwnProperty}}{{.toString}}]{{.own}}',
  ).render(hostile);
  assert.equal(text, '[]1');
  assert.throws(
    () => compileTemplate('{{.secret.password}}').render(hostile),
    /can't evaluate field/,
  );
  assert.equal(compileTemplate('{{.__proto__}}').render(JSON.parse('{"__proto__":"own"}')), 'own');
});

test('data that looks like a template stays text', () => {
  assert.equal(compileTemplate('{{.a}}').render({ a: '{{.b}}', b: 'evaluated' }), '{{.b}}');
});

test('functions of the caller join the built-in ones, and know how long a text may be', () => {
  const shout = templateFunction(
    1,
    1,
    ([text], room) => `${String(text).toUpperCase()}! (${room})`,
  );
  const compiled = compileTemplate('{{ .name | shout }}', {
    functions: new Map([['shout', shout]]),
    limits: { output: 50 },
  });
  assert.equal(compiled.render(data), 'WEB! (50)');
});

test('a template without actions says its text at once', () => {
  assert.equal(compileTemplate('plain').constant, 'plain');
  assert.equal(compileTemplate('{{.a}}').constant, undefined);
});

const words = [
  '{{',
  '}}',
  '{{-',
  '-}}',
  ' ',
  '.',
  '.a',
  '$x',
  ':=',
  '=',
  '|',
  '(',
  ')',
  ',',
  'if',
  'else',
  'end',
  'range',
  'with',
  'break',
  'printf',
  'len',
  '"%d"',
  '1',
  '-1.5',
  '`r`',
  '/*',
  '*/',
  'nil',
  'text',
  '\n',
  'é',
  '\ud800',
];

test('whatever is typed renders, or is refused with its place', () => {
  const total = (text: string): void => {
    try {
      assert.equal(
        typeof compileTemplate(text, { limits: { steps: 1000, output: 1000 } }).render(data),
        'string',
      );
    } catch (error) {
      assert.match((error as Error).message, /^template:\d+:\d+: /, text);
    }
  };
  fc.assert(fc.property(fc.string({ maxLength: 40, unit: 'binary' }), total), { numRuns: 2000 });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 20 }), (parts) =>
      total(parts.join('')),
    ),
    { numRuns: 10_000 },
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 10 }), (parts) =>
      total(`{{${parts.join(' ')}}}`),
    ),
    { numRuns: 10_000 },
  );
});

test('floats print so that they read back the same, and whatever the precision', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, min: -1e300, max: 1e300 }),
      fc.integer({ min: 0, max: 20 }),
      (value, precision) => {
        assert.ok(Object.is(Number(formatGoFloat(value, 'g')), value));
        assert.ok(Object.is(Number(formatGoFloat(value, 'e')), value));
        assert.ok(Object.is(Number(formatGoFloat(value, 'f')), value));
        const wanted = value.toExponential(precision);
        assert.ok(
          Math.abs(Number(formatGoFloat(value, 'e', precision)) - Number(wanted)) <=
            Math.abs(value) * 10 ** -precision,
        );
      },
    ),
  );
});
