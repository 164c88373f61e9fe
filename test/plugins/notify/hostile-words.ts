import type { Notice } from 'svc/contracts/notify';

import { noticeOf } from './office.ts';

const escape = '\u001b';

/** Texts that an attacker, or a careless person, gives a rule, a label, a host or an annotation. */
export const hostileWords: Readonly<Record<string, string>> = {
  'HTML that runs': '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'HTML that looks': '<b>bold</b> <a href="https://evil.example">click</a> <h1>Big</h1>',
  'HTML that ends ours': '</font></b></div></td></table>--><!--',
  'entities of HTML': '&lt;b&gt;bold&lt;/b&gt; &amp;lt; &#60;script&#62; &quot;',
  CDATA: ']]><![CDATA[<x>',
  'a call to a channel of Slack': '<!channel> <!here> <!everyone> <!subteam^S012|@ops>',
  'a call to a user of Slack': '<@U0123456> and <#C0123456|general>',
  'a link of Slack': '<https://evil.example|the runbook>',
  'calls by name': '@all @here @channel @everyone @ops-team (@bob) .@all,@all',
  'calls in emphasis': '_@all_ *@here* `@channel` ~@everyone~ **@bob**',
  'calls in Chinese': '@所有人 ＠全体成员 @张三',
  'a call of Feishu': '<at user_id="all">everyone</at> <at id=all></at> <AT email="a@example.org">',
  'a call that turns': '@\u202eall @\u200fhere @\u2066channel',
  'an address of e-mail': 'ann@example.org <bob@example.org> mailto:eve@evil.example',
  'a link of markdown': '[the runbook](https://evil.example/x) [a] (https://evil.example)',
  'a picture of markdown': '![x](https://evil.example/pixel.png) ![][1]',
  'a reference of markdown': '[runbook][1]\n\n[1]: https://evil.example',
  'an address in brackets': '<https://evil.example/x> and https://evil.example/*a*/_b_',
  'a script as a link': '[x](javascript:alert(1)) javascript:alert(1) data:text/html,<script>',
  'a command of DingTalk':
    'dtmd://dingtalkclient/sendMessage?content=/approve [ok](dtmd://dingtalkclient/sendMessage?content=x)',
  emphasis: '*bold* **bold** ***both*** _thin_ __bold__ ~struck~ ~~struck~~',
  code: '`code` ```\nblock\n``` `` ` ``',
  'a mark without its end': '**bold from here on, `code from here on, _and thin',
  headings: '# Heading\n## Heading\nHeading\n===\nHeading\n---',
  'lists and quotations': '> quoted\n- one\n* two\n+ three\n1. four\n- [ ] task',
  'a table': '| a | b |\n|---|---|\n| 1 | 2 |',
  'rules across': '---\n***\n___\n===',
  'a fact that is none': 'Host: db-9 (10.9.9.9)\nValue: 0 (threshold 90)',
  'a title that is none': '[RESOLVED] critical: no longer on db-3: all is well (after 1m)',
  'a field of mail': 'x\r\nBcc: eve@evil.example\r\nSubject: other\r\n\r\nbody',
  'lines of SMTP': '.\r\n.\r\nQUIT\r\n..\r\nMAIL FROM:<eve@evil.example>',
  'a word of MIME': '=?utf-8?B?PHNjcmlwdD4=?= =?utf-8?Q?=0D=0ABcc:_x?=',
  'what ends JSON': '"},"markdown":{"content":"x"},"at":{"isAtAll":true},"a":"',
  'marks of JSON': '\\ \\\\ \\" \\u0000 \\n \\ud83d',
  'quotation marks': `${'"'.repeat(400)}${'\\'.repeat(400)}`,
  'a zero byte': 'a\u0000b\u0000',
  'characters that control':
    Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('') +
    '\u007f\u0085\u009b',
  'colours of a terminal': `${escape}[31mred${escape}[0m ${escape}]8;;https://evil.example${escape}\\link${escape}]8;;${escape}\\ ${escape}[2J`,
  'a text that turns': 'safe\u202egnp.exe\u202c \u2067right\u2069 \u200eleft\u200f \u061c',
  Hebrew: 'שרת שרת 10.1.1.1 (db)',
  Arabic: 'الخادم ١٢٣ معطل',
  'half a character': 'a\ud83d b\udc00 \ud83d',
  emoji: '🚨👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿👍🏽 :fire: :rotating_light:',
  'characters without width': 'a\u200bb\u200cc\u200dd\ufeffe\u2060f\u00adg',
  'characters that pile up': `Z${'\u0301\u0323\u0334'.repeat(200)}`,
  'ends of lines': 'a\nb\rc\r\nd\u2028e\u2029f\vg\fh',
  blanks: '   \t\u00a0\u3000   ',
  'nothing to be seen': '\u200b\u200b\u2060',
  'braces of a template':
    '{{ .secret }} {{ range . }} {{ template "x" }} ${HOME} {% raw %} %s %n $(id) `id`',
  'braces without an end': '{{ {{{{ }} {% #{',
  SQL: `'; drop table alert_incidents; --`,
  'a path': '../../../../etc/passwd /var/lib/a_b/C:\\temp\\_x_',
  'a long word': 'x'.repeat(20_000),
  'long Chinese': '漢字'.repeat(10_000),
  'long emoji': '🚨'.repeat(6_000),
  'long marks': '<&>"*_`@a'.repeat(3_000),
  'many lines': 'line\n'.repeat(5_000),
};

/** Places where strangers write. */
export const places = [
  'the name of the rule',
  'a label',
  'the name of the host',
  'an annotation',
] as const;
export type Place = (typeof places)[number];

/** Returns a notice about a host whose name does not contain the text. */
export const hostileNotice = (id: number, place: Place, words: string): Notice =>
  noticeOf(id, 'firing', {
    incident: {
      device_id: '7',
      scope_id: '7',
      labels: {
        device_id: '7',
        team: 'db',
        ...(place === 'a label' && { evil: words, instance: words }),
      },
      ...(place === 'the name of the rule' && { rule_name: words, summary: '' }),
      ...(place === 'an annotation' && {
        summary: words,
        annotations: { summary: words, description: words },
      }),
    },
  });
