import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { ProtoWriter } from 'svc/store';

import { readOtlpJson, readOtlpProto } from '../../../plugins/logs/store/intake/otlp-push.ts';
import { present } from './fixture.ts';

test('each record keeps what it says of itself, in either form, however alike they are', () => {
  const text = fc.constantFrom('', 'a', 'b', 'ü');
  const record = fc.record({
    severity: fc.nat(24),
    severityText: text,
    body: fc.oneof(text, fc.nat(3)),
    attributes: fc.dictionary(fc.constantFrom('k', 'l.m'), text),
    trace: fc.boolean(),
  });
  const scopes = fc.array(fc.record({ name: text, records: fc.array(record, { maxLength: 6 }) }), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(scopes, (sent) => {
      const [json, proto] = [readOtlpJson(otlpJson(sent)), readOtlpProto(otlpProto(sent))].map(
        (batch) =>
          Array.from({ length: batch.count }, (_, i) => [
            batch.ms[i],
            batch.ns[i],
            batch.lineAt(i),
            batch.metas[batch.meta[i]!],
          ]),
      );
      assert.deepEqual(proto, json);
    }),
  );
});

interface Scope {
  readonly name: string;
  readonly records: readonly {
    readonly severity: number;
    readonly severityText: string;
    readonly body: string | number;
    readonly attributes: Readonly<Record<string, string>>;
    readonly trace: boolean;
  }[];
}

const traceId = '0af7651916cd43dd8448eb211c80319c';

function otlpJson(scopes: readonly Scope[]): Buffer {
  const scopeLogs = scopes.map(({ name, records }) => ({
    scope: { name },
    logRecords: records.map(({ severity, severityText, body: said, attributes, trace }, i) => ({
      timeUnixNano: `${present}00000${i}`,
      severityNumber: severity,
      severityText,
      body: typeof said === 'string' ? { stringValue: said } : { intValue: said },
      attributes: Object.entries(attributes).map(([key, value]) => ({
        key,
        value: { stringValue: value },
      })),
      ...(trace && { traceId }),
    })),
  }));
  return Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs }] }));
}

function otlpProto(scopes: readonly Scope[]): Buffer {
  const request = new ProtoWriter();
  request.message(1, (resourceLogs) => {
    for (const { name, records } of scopes) {
      resourceLogs.message(2, (scopeLogs) => {
        scopeLogs.message(1, (scope) => scope.string(1, name));
        records.forEach(({ severity, severityText, body: said, attributes, trace }, i) => {
          scopeLogs.message(2, (record) => {
            record.fixed64(1, BigInt(present) * 1_000_000n + BigInt(i));
            record.uint(2, severity);
            record.string(3, severityText);
            record.message(5, (value) =>
              typeof said === 'string' ? value.string(1, said) : value.uint(3, said),
            );
            for (const [key, value] of Object.entries(attributes)) {
              record.message(6, (pair) => {
                pair.string(1, key);
                pair.message(2, (any) => any.string(1, value));
              });
            }
            if (trace) {
              record.bytes(9, Buffer.from(traceId, 'hex'));
            }
          });
        });
      });
    }
  });
  return Buffer.from(request.finish());
}
