import type { MentionType } from 'svc/contracts/mention';
import type { ModelPart, ModelProvider, ProviderRequest } from 'svc/contracts/model';
import { defineExtensionPoint, definePlugin, type Persona, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

const usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, estimated: false };

/** Provider that calls the guest's own tool and repeats the result. */
async function* answer({ messages, model, tools }: ProviderRequest): AsyncGenerator<ModelPart> {
  const last = messages.at(-1)!;
  if (last.role !== 'tool') {
    const [tool] = tools;
    yield { type: 'call-start', index: 0, name: tool!.name };
    yield { type: 'call', index: 0, name: tool!.name, args: {}, text: '{}' };
    yield { type: 'end', finish: 'tool-calls', usage, model };
    return;
  }
  const asked = messages.findLast(({ role }) => role === 'user');
  yield { type: 'text', delta: `${asked!.text}\n${last.text}` };
  yield { type: 'end', finish: 'stop', usage, model };
}

const provider: ModelProvider = {
  name: 'guest',
  configured: () => true,
  models: () => [{ id: 'parrot', context: 32_000, tools: true, streaming: true }],
  stream: answer,
};

const mention: MentionType = {
  type: 'planet',
  search: (query, _principal, limit) =>
    Promise.resolve(
      [{ type: 'planet', id: 'mars', label: 'Mars', subtitle: 'red', insert: '@planet:mars' }]
        .filter(({ id }) => id.includes(query))
        .slice(0, limit),
    ),
  resolve: (id) =>
    Promise.resolve(id === 'mars' ? { label: 'Mars', facts: { moons: 2 } } : undefined),
};

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(defineExtensionPoint<ModelProvider>('model.provider'), 'guest', provider);
    ctx.extend.contribute(defineExtensionPoint<MentionType>('mention.types'), 'planet', mention);
    ctx.skills.add(
      toolSkill({
        key: 'guest_moons',
        name: 'Moons',
        description: 'Counts moons.',
        scope: 'manager',
        class: 'safe',
        tier: 'core',
        params: Type.Object({}),
        run: () => Promise.resolve({ moons: 2 }),
      }),
    );
    const astronomer: Persona = {
      name: 'astronomer',
      description: 'Knows planets.',
      when_to_use: 'Planets and their moons.',
      tools: ['guest_moons'],
      disallowed_tools: [],
      permission_mode: 'read-only',
      max_turns: 4,
      model: 'guest/parrot',
      critical_reminder: '',
      initial_prompt: '',
      background: false,
      omit_agent_md: true,
      metadata: {},
      unknown: {},
      body: 'You look at planets.',
      source: 'builtin',
    };
    ctx.extend.live('agents').replace({ personas: [astronomer] });
  },
});
