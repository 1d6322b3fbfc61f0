import { block } from './directives.ts';
import type { GatewayOptions } from './options.ts';

const context = String.raw`00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\z`;

/**
 * W3C trace context (https://www.w3.org/TR/trace-context/): a caller's trace goes on, any other request
 * begins one. What the services see as their parent is the gateway's own span.
 */
export const traceMaps = (): string[] => [
  ...block(
    'map $http_traceparent $trace_id',
    'default $request_id;',
    String.raw`"~^(?=${context})00-(?<caller_trace>[0-9a-f]{32})" $caller_trace;`,
  ),
  ...block(
    'map $http_traceparent $parent_span_id',
    'default "";',
    String.raw`"~^(?=${context})00-[0-9a-f]{32}-(?<caller_span>[0-9a-f]{16})" $caller_span;`,
  ),
  ...block(
    'map $http_traceparent $trace_flags',
    'default 01;',
    String.raw`"~^(?=${context}).*-(?<caller_flags>[0-9a-f]{2})\z" $caller_flags;`,
  ),
  '# Without its traceparent a tracestate says nothing.',
  ...block('map $parent_span_id $trace_state', 'default $http_tracestate;', '"" "";'),
  ...block('map $request_id $span_id', String.raw`"~^(?<first_half>[0-9a-f]{16})" $first_half;`),
];

/** What a service is told of the trace. */
export const traceHeaders: readonly string[] = [
  'proxy_set_header traceparent 00-$trace_id-$span_id-$trace_flags;',
  'proxy_set_header tracestate $trace_state;',
];

/** Each request once more, as a datagram to the program that makes spans of them. */
export const spanLog = ({ spans }: GatewayOptions): string[] =>
  spans === undefined
    ? []
    : [
        "log_format spans escape=json '{'",
        ...[
          `'"trace":"$trace_id","span":"$span_id","parent":"$parent_span_id",'`,
          `'"method":"$request_method","service":"$service","requestId":"$correlation_id",'`,
          `'"status":$logged_status,"end":$msec,"seconds":$request_time}';`,
        ].map((line) => `    ${line}`),
        `access_log syslog:server=${spans},nohostname,tag=gateway spans;`,
      ];
