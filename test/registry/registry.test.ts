import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { currentPin, optionalHandle, Registry, serviceHandle } from '../../core/registry/index.ts';
import { draftOf } from './fixtures.ts';

describe('the registry', () => {
  test('shows a plugin with everything it declared after one publication', () => {
    const registry = new Registry();
    const before = registry.current;
    registry.publish({ add: [draftOf('topology', 1, ['topology.graph'])] });
    assert.equal(before.services.size, 0, 'a snapshot taken earlier does not change');
    assert.equal(registry.current.services.get('topology.graph')?.owner.label, 'topology#1');
    assert.equal(registry.current.serial, before.serial + 1);
  });

  test('publishes nothing when two plugins claim the same key', () => {
    const registry = new Registry();
    registry.publish({ add: [draftOf('one', 1, ['shared.thing'])] });
    const before = registry.current;
    assert.throws(
      () => registry.publish({ add: [draftOf('two', 1, ['two.own', 'shared.thing'])] }),
      /two and one both declare services "shared.thing"/,
    );
    assert.equal(registry.current, before);
  });

  test('lets a plugin replace itself and forget what it no longer declares', () => {
    const registry = new Registry();
    registry.publish({ add: [draftOf('one', 1, ['a.x', 'a.y'])] });
    registry.publish({ add: [draftOf('one', 2, ['a.x'])] });
    assert.deepEqual([...registry.current.services.keys()], ['a.x']);
    assert.equal(registry.current.generations.get('one')?.number, 2);
  });

  test('refuses declarations after the declaring phase and the same key twice', () => {
    const draft = draftOf('one', 1, ['a.x']);
    assert.throws(() => draft.add('services', 'a.x', { version: '1.0.0', instance: {} }), /twice/);
    draft.seal();
    assert.throws(
      () => draft.add('services', 'a.z', { version: '1.0.0', instance: {} }),
      /after activate\(\) has returned/,
    );
  });

  test('keeps one view of the house for the whole of a unit of work', async () => {
    const registry = new Registry();
    const draft = draftOf('one', 1, ['a.x']);
    registry.publish({ add: [draft] });
    const handle = serviceHandle<{ name(): string }>(registry, 'a.x');
    await registry.pinned(draft.generation, async () => {
      registry.publish({ add: [draftOf('one', 2, ['a.x'])] });
      await Promise.resolve();
      assert.equal(handle.name(), 'one#1', 'inside: still the provider it began with');
      assert.equal(currentPin()?.owner, draft.generation);
    });
    assert.equal(handle.name(), 'one#2', 'outside: the newest');
    assert.equal(registry.leases.size, 0);
  });
});

describe('a lease', () => {
  test('keeps a replaced generation from being idle until the work that saw it ends', async () => {
    const registry = new Registry();
    const old = draftOf('one');
    registry.publish({ add: [old] });
    let finish!: () => void;
    const working = registry.pinned(
      old.generation,
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    registry.publish({ add: [draftOf('one', 2)] });
    assert.equal(registry.leases.users(old.generation), 1);
    assert.equal(
      await registry.leases.idle(old.generation, 5),
      false,
      'the deadline passes while it is in use',
    );
    const idle = registry.leases.idle(old.generation, 5_000);
    finish();
    assert.equal(await idle, true);
    await working;
    assert.equal(registry.leases.size, 0, 'no waiter is left behind');
  });

  test('of a stream holds its own generation only, so that others can retire', async () => {
    const registry = new Registry();
    const [streaming, other] = [draftOf('streaming'), draftOf('other')];
    registry.publish({ add: [streaming, other] });
    registry.leases.hold(streaming.generation);
    registry.publish({ remove: ['other'] });
    assert.equal(await registry.leases.idle(other.generation, 5), true);
    assert.equal(await registry.leases.idle(streaming.generation, 5), false);
    registry.leases.release(streaming.generation);
    assert.equal(await registry.leases.idle(streaming.generation, 5), true);
  });
});

describe('a service handle', () => {
  test('follows its provider through a reload without being made again', () => {
    const registry = new Registry();
    const handle = serviceHandle<{ name(): string; from: string }>(registry, 'a.x');
    assert.throws(() => handle.name(), {
      code: 'unavailable',
      message: /Service a\.x is not available/,
    });
    registry.publish({ add: [draftOf('one', 1, ['a.x'])] });
    const { name } = handle;
    registry.publish({ add: [draftOf('one', 2, ['a.x'])] });
    assert.equal(name(), 'one#2', 'even a method taken off the handle finds the new provider');
    assert.equal(handle.from, 'one#2');
    assert.equal('from' in handle, true);
    assert.throws(() => (handle.from = 'mine'), /cannot be set/);
  });

  test('can be returned from an async function without being taken for a promise', async () => {
    const registry = new Registry();
    const handle = await Promise.resolve(serviceHandle<{ from: string }>(registry, 'a.x'));
    registry.publish({ add: [draftOf('one', 1, ['a.x'])] });
    assert.equal(handle.from, 'one#1');
  });

  test('of an optional service tells when it comes and goes', () => {
    const registry = new Registry();
    const undo: (() => unknown)[] = [];
    const handle = optionalHandle<{ from: string }>(registry, 'a.x', (_label, disposer) => {
      undo.push(disposer);
      return disposer;
    });
    const seen: string[] = [];
    handle.onChange((state) => seen.push(state));
    assert.equal(handle.available, false);
    assert.throws(() => handle.get(), { code: 'unavailable' });
    registry.publish({ add: [draftOf('one', 1, ['a.x'])] });
    registry.publish({ add: [draftOf('one', 2, ['a.x'])] });
    assert.equal(handle.get().from, 'one#2');
    registry.publish({ remove: ['one'] });
    undo.forEach((disposer) => disposer());
    registry.publish({ add: [draftOf('one', 3, ['a.x'])] });
    assert.deepEqual(
      seen,
      ['up', 'down'],
      'a reload is not felt, and nothing is told after the watch ended',
    );
  });
});
