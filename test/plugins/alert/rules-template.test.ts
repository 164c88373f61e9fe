import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Snapshot } from '../../../plugins/alert/template/rendering.ts';
import { RuleTexts, assertAnnotations } from '../../../plugins/alert/template/template.ts';

const snapshot: Snapshot = {
  rule_key: 'cpu_high',
  rule_name: 'CPU is busy',
  severity: 'warning',
  scope_type: 'host',
  scope_id: '7',
  device_id: '7',
  labels: { device_id: '7', instance: 'web-1.example.org:9100', __proto__x: 'kept' },
  value: 93.4567,
  threshold: 90,
  fired_at: '2026-11-20T18:09:00.000Z',
};

const rendered = (text: string, more: Partial<Snapshot> = {}): string =>
  new RuleTexts().annotations({ annotations: { text } }, { ...snapshot, ...more })['text']!;

const examples: readonly (readonly [template: string, text: string])[] = [
  ['plain', 'plain'],
  ['{{ $labels.device_id }} {{ $value }} {{ $threshold }}', '7 93.4567 90'],
  [
    '{{ .severity }} {{ .rule_name }} {{ .incident.scope_id }} {{ .incident.labels.device_id }} {{ .fired_at }}',
    'warning CPU is busy 7 7 2026-11-20T18:09:00.000Z',
  ],
  ['{{ .Labels.instance }} {{ .Value | printf "%.1f" }}', 'web-1.example.org:9100 93.5'],
  [
    '[{{ $labels.nothing }}] {{ with $labels.nothing }}there{{ else }}not there{{ end }}',
    '[] not there',
  ],
  ['{{ range $name, $value := $labels }}{{ $name }};{{ end }}', '__proto__x;device_id;instance;'],
  [
    '{{ humanize 1234567.0 }} {{ humanize 0.00012 }} {{ humanize 0.0 }} {{ humanize $value }}',
    '1.235M 120u 0 93.46',
  ],
  [
    '{{ humanize1024 1048576.0 }} {{ humanize1024 0.5 }} {{ humanize1024 2000.0 }}',
    '1Mi 0.5 1.953ki',
  ],
  [
    '{{ humanizeDuration 0.0 }} {{ humanizeDuration 59.5 }} {{ humanizeDuration 3661.0 }} {{ humanizeDuration 90061.0 }} {{ humanizeDuration 0.0123 }} {{ humanizeDuration -61.0 }}',
    '0s 59.5s 1h 1m 1s 1d 1h 1m 1s 12.3ms -1m 1s',
  ],
  ['{{ humanizePercentage 0.1234567 }} {{ "0.5" | humanizePercentage }}', '12.35% 50%'],
  ['{{ humanizeTimestamp 1435065584.128 }}', '2015-06-23 13:19:44.128 +0000 UTC'],
  [
    '{{ title "disk is full" }} {{ toUpper "a" }}{{ toLower "B" }}{{ trim " c " }}',
    'Disk Is Full Abc',
  ],
  [
    '{{ if match "^web-[0-9]+" $labels.instance }}web{{ end }} {{ reReplaceAll "(.*):.*" "host $1" $labels.instance }}',
    'web host web-1.example.org',
  ],
  [
    '{{ stripPort $labels.instance }} {{ stripDomain $labels.instance }} {{ stripPort "[::1]:80" }} {{ stripDomain "10.0.0.1:80" }}',
    'web-1.example.org web-1:9100 ::1 10.0.0.1:80',
  ],
  ['{{ parseDuration "1h30m" }} {{ urlQueryEscape "a b&c" }}', '5400 a+b%26c'],
  ['{{ printf "%s is at %.2f %%" $labels.device_id $value }}', '7 is at 93.46 %'],
];

for (const [template, text] of examples) {
  test(`an annotation: ${template}`, () => assert.equal(rendered(template), text));
}

test('labels are text, whatever they look like', () => {
  assert.equal(
    rendered('{{ $labels.device_id }}', { labels: { device_id: '{{ $value }}<script>' } }),
    '{{ $value }}<script>',
  );
  assert.equal(rendered('{{ .constructor }}{{ $labels.__proto__ }}{{ $labels.toString }}'), '');
});

test('a template that fails when it is rendered says so in its place, and is cut short when it grows', () => {
  assert.match(
    rendered('{{ humanize $labels.instance }}'),
    /^<error expanding template: .*"web-1\.example\.org:9100" is not a number/,
  );
  assert.match(
    rendered('{{ range $a, $b := $labels }}{{ printf "%9000d" 1 }}{{ end }}'),
    /^<error expanding template: /,
  );
  assert.equal(
    rendered('{{ reReplaceAll "((a*)*)*b" "x" $labels.word }}', {
      labels: { word: 'a'.repeat(5_000) },
    }).length,
    5_000,
  );
});

test('a template that could never work is refused by annotation, line and column', () => {
  assert.throws(
    () => assertAnnotations({ summary: 'a\n{{ graphLink "up" }}' }),
    /^SvcError: annotations\.summary: template:2:4: /,
  );
  assert.throws(
    () => assertAnnotations({ summary: '{{ $nothing }}' }),
    /annotations\.summary: template:1:4: .*nothing/,
  );
  assert.throws(
    () => assertAnnotations({ summary: '{{ if }}' }),
    /annotations\.summary: template:1:/,
  );
  assertAnnotations({
    summary: '{{ $labels.a }} {{ $value }} {{ $externalLabels.b }} {{ $externalURL }}',
  });
});
