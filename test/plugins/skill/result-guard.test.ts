import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { guarded, guardedText } from '../../../plugins/skill/guard/result-guard.ts';

const letters = fc.string({
  unit: fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'.split('')),
  minLength: 24,
  maxLength: 40,
});
const upper = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZ234567'.split('')),
  minLength: 16,
  maxLength: 16,
});

/** Secrets alone, with how they occur in a text. */
const planted: fc.Arbitrary<{ secret: string; text: string }> = fc.oneof(
  letters.map((one) => ({ secret: one, text: `svc_pat_${one}` })),
  letters.map((one) => ({ secret: one, text: `ghp_${one}` })),
  letters.map((one) => ({ secret: one, text: `sk-${one}` })),
  upper.map((one) => ({ secret: one, text: `AKIA${one}` })),
  letters.map((one) => ({ secret: one, text: `Authorization: Bearer ${one}` })),
  letters.map((one) => ({ secret: one, text: `postgres://app:${one}@db.internal:5432/app` })),
  letters.map((one) => ({ secret: one, text: `mysql --password=${one} --host db` })),
  letters.map((one) => ({ secret: one, text: `{"user":"app","password":"${one}"}` })),
  letters.map((one) => ({ secret: one, text: `curl "https://h/p?api_key=${one}&x=1"` })),
  letters.map((one) => ({ secret: one, text: `eyJ${one}.eyJ${one}.${one}` })),
  letters.map((one) => ({
    secret: one,
    text: `-----BEGIN PRIVATE KEY-----\n${one}\n-----END PRIVATE KEY-----`,
  })),
);
const noise = fc.string({
  maxLength: 60,
  unit: fc.constantFrom(...'abc xyz 0123 .,;()<>\n\t'.split('')),
});
/** Characters that nobody sees, which could part a secret in two. */
const unseen = fc.constantFrom(
  '\u200b',
  '\u0000',
  '\ufeff',
  '\u202e',
  '\u{e0041}',
  '\u001b[31m',
  '\u2060',
  '\u001b]0;x\u0007',
);

function* textsOf(value: unknown): Iterable<string> {
  if (typeof value === 'string') {
    yield value;
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      yield name;
      yield* textsOf(item);
    }
  }
}

test('no planted secret leaves a result, wherever it stands and whatever hides in it', () => {
  const shape = fc.record({
    plant: planted,
    before: noise,
    after: noise,
    hidden: unseen,
    at: fc.nat(),
    form: fc.constantFrom('text', 'list', 'deep', 'name'),
  });
  fc.assert(
    fc.property(shape, ({ plant: { secret, text }, before, after, hidden, at, form }) => {
      const cut = at % text.length;
      const said = `${before} ${text.slice(0, cut)}${hidden}${text.slice(cut)} ${after}`;
      const value = {
        text: said,
        list: ['a', [said]],
        deep: { a: { b: { c: [{ d: said }] } } },
        name: { [said]: 1 },
      }[form];
      for (const left of textsOf(guarded(value))) {
        assert.ok(!left.includes(secret), left);
      }
    }),
    { numRuns: 3_000 },
  );
});

test('a value under the name of a secret is hidden whole; names of rows and numbers are not', () => {
  fc.assert(
    fc.property(
      letters,
      fc.constantFrom(
        'password',
        'api_key',
        'DB_PASSWD',
        'clientSecret',
        'x-auth-token',
        'private_key',
        'pass\u200bword',
      ),
      (secret, name) => {
        for (const item of [secret, [secret], { value: secret }]) {
          assert.ok(!JSON.stringify(guarded({ rows: [{ [name]: item }] })).includes(secret));
        }
      },
    ),
  );
  const plain = {
    key: 'cpu',
    rule_key: 'host.cpu',
    dedupe_key: 'a/b',
    input_tokens: 512,
    max_tokens: 5,
    items: [{ token: 7 }],
  };
  assert.deepEqual(guarded(plain), plain);
  const schema = {
    type: 'object',
    properties: { page_token: { type: 'string' }, password: { type: 'string' } },
  };
  assert.deepEqual(guarded(schema), schema);
});

test('what a terminal or a reader would not see is gone; text stays text', () => {
  const text =
    'a\u001b[1;31mred\u001b[0m \u001b]52;c;ZXZpbA==\u0007\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\ b\u202eevil\u2066\u200b\u{e0041}\u{e0042}\r\n\tend\u0000\u009b31m';
  assert.equal(guardedText(text), 'ared link bevil\n\tend');
  const fine = 'grüße 世界 👍 "quoted" {x: 1}\n\tnext';
  assert.equal(guardedText(fine), fine);
  assert.deepEqual(
    guarded({ at: new Date(0), big: 5n, nothing: undefined, f: () => 1, list: new Float64Array() }),
    {
      at: '1970-01-01T00:00:00.000Z',
      big: '5',
      nothing: undefined,
      f: null,
      list: [],
    },
  );
});

test('secrets of services are known by their shape, and a secret that a sentence says', () => {
  const word = 'S3cretWord0123456789abcdef';
  const telling = [
    `POST https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/${word} 200`,
    `POST https://discord.com/api/webhooks/123456789012345678/${word}${word} 204`,
    `mail key SG.${'a'.repeat(22)}.${word}`,
    `grafana key glsa_${word}_d7c1c1e2`,
    `grafana key eyJrIjoi${word}`,
    `AccountName=a;AccountKey=${word}==;EndpointSuffix=x`,
    `account_key: ${word}`,
    `> AUTH PLAIN ${word}`,
    `config requirepass ${word}`,
    `oauth ya29.${word}`,
    `page token EAA${word.repeat(3)}`,
    `Passwort: ${word}`,
    `Kennwort ist ${word}`,
    `the passphrase is ${word}`,
    `pass word: ${word}`,
  ];
  assert.deepEqual(
    telling.filter((line) => guardedText(line).includes('S3cretWord')),
    [],
  );
  const harmless = [
    'the password is wrong',
    'password is required for user app2',
    'Passwort ist falsch',
    'GET /services/TASKS/BATCHES/overview 200',
    'AUTH PLAIN LOGIN CRAM-MD5',
    'EAAccelerator loaded',
    'SG.web is a security group',
    'the passphrase is too short: 3 of 12',
    'requirepass',
  ];
  assert.deepEqual(harmless.map(guardedText), harmless);
});

test('a secret is known by how it is written down, in the languages of operators', () => {
  const lines: readonly (readonly [line: string, secret: string])[] = [
    ['mail.password = "seven green owls"', 'green owls'],
    ["DB_PWD = REPORT_PWD = 'Plum_41'", 'Plum_41'],
    ['machine git.example.org login ci password tr33house-x', 'tr33house-x'],
    ['the new password for staging is Heron$77, change it', 'Heron$77'],
    ['Passwort für den Zugang ist Birke_12', 'Birke_12'],
    ['mot de passe : Tulipe+8x', 'Tulipe+8x'],
    ['la contraseña es Nube-4410', 'Nube-4410'],
    ['пароль: Sneg_207', 'Sneg_207'],
    ['パスワード:Kaede#51', 'Kaede#51'],
    ['snmp-server community wr1te-me RW', 'wr1te-me'],
    ['["db_pass"]=> string(9) "q;w"e r t" }', 'q;w"e r t'],
    ['ConvertTo-SecureString "Loft!22 b" -AsPlainText', 'Loft!22 b'],
    ['echo "deploy:c0bblestone" | sudo chpasswd', 'c0bblestone'],
    ['license key: AB12C-DE34F-GH56I for build-1', 'DE34F'],
    ['docker login -u ci -p r3gistry.x registry.example.org', 'r3gistry.x'],
    ['GET /f?u=sftp%3A%2F%2Fann%3As%24cret1%40nas%2Fx HTTP/1.1', 's%24cret1'],
    ['https://b.example.org/x?X-Amz-Date=2&X-Amz-Signature=00ff00ff00ff', '00ff00ff00ff'],
    ['deploy:$apr1$aaaaaaaa$bbbbbbbbbbbbbbbbbbbbbb', 'bbbbbbbbbbbb'],
    ["SECRET_KEY='insecure-4(z)^k'", '(z)^k'],
    ["{'passwd': b'Kiln-5', 'port': 21}", 'Kiln-5'],
    ['GET / HTTP/1.1\\r\\nCookie: lang=de; sid=q8w7e6r5t4', 'q8w7e6r5t4'],
    ['enable password 7 08224F5D1A1E', '08224F5D1A1E'],
    ['le mot de passe du wifi est « Miel et thym 4 »', 'thym'],
    ['db.example.org:5432:shop:app:moss_9', 'moss_9'],
    ['Your verification code is 551 902.', '551 902'],
  ];
  assert.deepEqual(
    lines.filter(([line, secret]) => guardedText(line).includes(secret)),
    [],
  );
  const harmless = [
    'sudo: ann : PWD=/home/ann/site ; USER=root',
    'tokenizer: pad_token=<pad> eos_token=</s>',
    'Cloning ssh://git@git.example.org:2222/platform/infra.git',
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl\n-----END CERTIFICATE-----',
    'the password is wrong',
    'password for bob was changed yesterday',
    'password policy: min_length=12',
    'DB_PASSWORD=${VAULT_DB_PASSWORD} ./migrate',
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3',
  ];
  assert.deepEqual(
    harmless.filter((line) => guardedText(line) !== line),
    [],
  );
});
