/** One call that an assistant made, as it stands in the history. */
export interface PastCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: unknown;
  readonly name?: string;
  readonly tool_calls?: readonly PastCall[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

/** The body of `POST /v1/chat/completions`, as far as it was found in order. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly {
    readonly type: 'function';
    readonly function: { readonly name: string; readonly parameters?: unknown };
  }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly [field: string]: unknown;
}

const known = new Set(
  `model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens temperature top_p stop seed
   response_format frequency_penalty presence_penalty reasoning_effort user`.split(/\s+/),
);

const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'tool_calls', 'reasoning_content'],
  tool: ['role', 'content', 'tool_call_id'],
};

/** Returns the reason why a strict provider would refuse this body; undefined if there is none. */
export function complaintOf(body: unknown): string | undefined {
  if (!isRecord(body)) {
    return 'the body is not a JSON object';
  }
  const unknown = Object.keys(body).find((field) => !known.has(field));
  if (unknown !== undefined) {
    return `unrecognized request argument supplied: ${unknown}`;
  }
  if (typeof body['model'] !== 'string' || body['model'] === '') {
    return 'you must provide a model parameter';
  }
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) {
    return "'messages' must be an array of at least one message";
  }
  return (
    complaintOfTools(body['tools']) ??
    complaintOfMessages(messages) ??
    complaintOfOrder(messages as ChatMessage[])
  );
}

function complaintOfTools(tools: unknown): string | undefined {
  if (tools === undefined) {
    return undefined;
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    return "'tools' must be an array of at least one tool";
  }
  const names = tools.map((tool: unknown) =>
    isRecord(tool) && tool['type'] === 'function' && isRecord(tool['function'])
      ? tool['function']['name']
      : undefined,
  );
  const wrong = names.findIndex((name) => typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name));
  if (wrong >= 0) {
    return `'tools.${wrong}.function.name' must match ^[a-zA-Z0-9_-]{1,64}$`;
  }
  return new Set(names).size < names.length ? 'tool names must be unique' : undefined;
}

function complaintOfMessages(messages: readonly unknown[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const fields =
      isRecord(message) && typeof message['role'] === 'string'
        ? fieldsOf[message['role']]
        : undefined;
    if (!isRecord(message) || !fields) {
      return `'messages.${index}.role' is not one of ${Object.keys(fieldsOf).join(', ')}`;
    }
    const unknown = Object.keys(message).find((field) => !fields.includes(field));
    if (unknown !== undefined) {
      return `additional properties are not allowed: 'messages.${index}.${unknown}'`;
    }
    const calls = message['tool_calls'];
    const isEmpty = message['content'] === undefined || message['content'] === null;
    if (calls !== undefined && (!Array.isArray(calls) || calls.length === 0)) {
      return `'messages.${index}.tool_calls' must be an array of at least one call`;
    }
    if (isEmpty && calls === undefined) {
      return `'messages.${index}.content' must not be null unless the message has tool_calls`;
    }
  }
  return undefined;
}

/** Every result directly follows its call, each call has one, and the conversation ends with what is to be answered. */
function complaintOfOrder(messages: readonly ChatMessage[]): string | undefined {
  let owed = new Set<string>();
  for (const [index, { role, tool_calls: calls, tool_call_id: answered }] of messages.entries()) {
    if (role === 'tool') {
      if (!owed.delete(answered ?? '')) {
        return `'messages.${index}' with role 'tool' must be a response to a preceding message with 'tool_calls'`;
      }
    } else if (owed.size > 0) {
      return `an assistant message with 'tool_calls' must be followed by tool messages for each 'tool_call_id'; missing before 'messages.${index}': ${[...owed].join(', ')}`;
    } else if (calls) {
      owed = new Set(calls.map(({ id }) => id));
      if (owed.size < calls.length) {
        return `'messages.${index}.tool_calls' has the same id twice`;
      }
    }
  }
  if (owed.size > 0) {
    return `an assistant message with 'tool_calls' must be followed by tool messages for each 'tool_call_id'; missing at the end: ${[...owed].join(', ')}`;
  }
  return messages.at(-1)!.role === 'assistant'
    ? 'the last message must not be of the assistant'
    : undefined;
}

/** The words of a message, whether it is a text or a list of parts. */
export function textOf({ content }: ChatMessage): string {
  if (Array.isArray(content)) {
    return content
      .map((part: unknown) =>
        isRecord(part) && typeof part['text'] === 'string' ? part['text'] : '',
      )
      .join('');
  }
  return typeof content === 'string' ? content : '';
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
