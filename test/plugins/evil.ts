/** Patterns that ruin engines which go back and try again, or that grow when they are compiled. */
export const evil: readonly string[] = [
  ...[
    '(a+)+$',
    '(a*)*$',
    '(a|a)*$',
    '(a|aa)+$',
    '(.*a){25}$',
    '([a-z]+)*$',
    '(a?){60}a{60}',
    '((a+)+)+$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ],
  ...[
    '(?:a|b|ab)*c',
    '(.+)+(.+)+x',
    '(\\w+\\s?)+$',
    '(0|[1-9]\\d*)+x',
    '((((a*)*)*)*)*b',
    '.*.*.*.*.*.*.*=.*',
    '(a{0,100}){0,10}b',
    '(a|b|c|d|e)*(f|g)*z$',
    '[^x]*x?[^x]*x?y$',
    '(aa|aab?)*c',
  ],
  ...[
    'a{1000}',
    '(a{100}){100}',
    '((a{50}){50}){50}',
    'a{1,1000}{1,1000}',
    '(.{1,999}){1,999}',
    'x'.repeat(5_000),
    `(${'a|'.repeat(2_000)}b)`,
    '[a-z]{999}'.repeat(20),
    '\\pL{900}\\pN{900}',
    `${'('.repeat(1_200)}a${')'.repeat(1_200)}`,
  ],
  ...['(', '[', 'a**', '(?=a)', '(?<!a)b', '\\1(a)', '(?P<n>a)(?P<n>b)', '[z-a]', 'a{2,1}', '(?i'],
];

/** A line that the patterns above are slow on. */
export const bait = `${'a'.repeat(40)}!`;
