import { type Static, Type } from 'typebox';

/** Rule of a person, as it is sent and stored. */
export const HostRule = Type.Object(
  {
    label: Type.String({ minLength: 1, maxLength: 200, examples: ['nodename'] }),
    regex: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        examples: ['(.+?)(?::\\d+)?'],
        description: 'Must match the whole value of the label. Default: (.*)',
      }),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ['$1'],
        description: 'Name of the host, with the groups of the regex. Default: $1',
      }),
    ),
  },
  {
    description:
      'Names a host by a label of its series. nodename is the one of node_uname_info, wherever the series is from.',
  },
);
export type HostRule = Static<typeof HostRule>;
