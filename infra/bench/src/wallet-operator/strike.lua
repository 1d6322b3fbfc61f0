-- Sends the prepared requests of a file (its first argument; a NUL byte after each) once each, over all connections of
-- one thread, and counts the answers that accept. Prints one line of JSON.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  prepared = {}
  for one in string.gmatch(file:read('*a'), '[^%z]+') do
    prepared[#prepared + 1] = one
  end
  file:close()
  sent = 0
  accepted = 0
end

function request()
  sent = sent + 1
  -- What follows is sent a second time: the bench sees by `sent` that it had prepared too few.
  return prepared[(sent - 1) % #prepared + 1]
end

function response(status, headers, body)
  if string.find(body, '"status":"OK"', 1, true) then
    accepted = accepted + 1
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    '{"sent":%d,"answered":%d,"accepted":%d,"micros":%d,"p50":%g,"p99":%g,"failed":%d}',
    threads[1]:get('sent'), summary.requests, threads[1]:get('accepted'), summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
