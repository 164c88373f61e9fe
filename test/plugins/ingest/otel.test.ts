import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { OTLPLogExporter as JsonLogs } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtoLogs } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

import { ingestHouse, seven } from './house.ts';

const languages = {
  protobuf: { Logs: ProtoLogs, Metrics: ProtoMetrics, Traces: ProtoTraces },
  JSON: { Logs: JsonLogs, Metrics: JsonMetrics, Traces: JsonTraces },
};

for (const [language, { Logs, Metrics, Traces }] of Object.entries(languages)) {
  describe(`the OpenTelemetry SDK, in ${language}`, () => {
    const options = (url: string, signal: string, below = ''): object => ({
      url: `${url}${below}/v1/${signal}`,
      headers: { authorization: seven },
      compression: 'gzip',
    });

    test('exports metrics', async (t) => {
      const house = await ingestHouse(t, { stores: ['metricsdb'] });
      const reader = new PeriodicExportingMetricReader({
        exporter: new Metrics(options(house.url, 'metrics')),
        exportIntervalMillis: 60_000,
      });
      const provider = new MeterProvider({ readers: [reader] });
      const meter = provider.getMeter('test');
      meter.createCounter('orders').add(3, { region: 'north', device_id: '1' });
      meter.createHistogram('latency', { unit: 's' }).record(0.2);
      await provider.forceFlush();
      await provider.shutdown();
      const { data } = await house.json(
        `/prometheus/api/v1/query?query=${encodeURIComponent('{__name__=~"orders.*",device_id="70"}')}`,
      );
      assert.deepEqual(
        data.result.map(
          ({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
            metric['region'],
            metric['edge_id'],
            value[1],
          ],
        ),
        [['north', '7', '3']],
      );
      const latency = await house.json(
        `/prometheus/api/v1/query?query=${encodeURIComponent('{__name__=~"latency.*_count"}')}`,
      );
      assert.equal(latency.data.result[0].value[1], '1');
    });

    test('exports logs, at the root and below the addresses that Loki has', async (t) => {
      const house = await ingestHouse(t, { stores: ['logs'] });
      for (const below of ['', '/otlp', '/loki/otlp']) {
        const exporter = new Logs(options(house.url, 'logs', below));
        const provider = new LoggerProvider({
          processors: [new BatchLogRecordProcessor({ exporter })],
        });
        provider.getLogger('test').emit({
          body: 'an order came in',
          severityText: 'WARN',
          severityNumber: 13,
          attributes: { order: 7, below },
        });
        await provider.forceFlush();
        await provider.shutdown();
        const asked = encodeURIComponent(`{device_id="70"} | order="7" | below="${below}"`);
        assert.equal(
          (await house.json(`/loki/api/v1/query_range?query=${asked}`)).data.result.length,
          1,
          below,
        );
      }
      const { data } = await house.json(
        `/loki/api/v1/query_range?query=${encodeURIComponent('{device_id="70",edge_id="7"}')}`,
      );
      assert.equal(data.result[0].values[0][1], 'an order came in');
    });

    test('exports traces', async (t) => {
      const house = await ingestHouse(t, { stores: ['traces'] });
      const provider = new BasicTracerProvider({
        spanProcessors: [new BatchSpanProcessor(new Traces(options(house.url, 'traces')))],
      });
      const span = provider
        .getTracer('test')
        .startSpan('take an order', { attributes: { 'order.id': 7 } });
      span.addEvent('paid');
      span.end();
      await provider.forceFlush();
      await provider.shutdown();
      const found = await house.json(`/api/v1/traces/${span.spanContext().traceId}`);
      const text = JSON.stringify(found);
      assert.match(text, /take an order/);
      assert.match(text, /"device_id","value":\{"stringValue":"70"\}/);
    });
  });
}
