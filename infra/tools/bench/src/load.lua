-- wrk script. Sends the requests of a file in order, over and over, on all connections of one thread.
-- Arguments: the file (a NUL byte after each request); a text that accepted responses contain, or ''; the mean pause of
-- a connection between two requests in ms, or ''.
-- Replaces ######## in a request by a number that is unique, also across runs. Prints one line of JSON.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  prepared = {}
  for raw in string.gmatch(file:read('*a'), '[^%z]+') do
    local first, last = string.find(raw, '########', 1, true)
    if first then
      prepared[#prepared + 1] = { string.sub(raw, 1, first - 1), string.sub(raw, last + 1) }
    else
      prepared[#prepared + 1] = raw
    end
  end
  file:close()
  text = args[2] or ''
  local pause = tonumber(args[3])
  if pause then
    -- Random, so that the connections do not send all at the same time.
    delay = function()
      return pause * (0.5 + math.random())
    end
  end
  sent = 0
  -- No run sends 100,000 requests a second, so the numbers of two runs differ.
  offset = os.time() % 900 * 100000
  accepted = 0
  -- wrk parses response bodies only for scripts that have a response function.
  if text ~= '' then
    response = function(status, headers, body)
      if string.find(body, text, 1, true) then
        accepted = accepted + 1
      end
    end
  end
end

function request()
  sent = sent + 1
  local parts = prepared[(sent - 1) % #prepared + 1]
  if type(parts) == 'table' then
    return parts[1] .. string.format('%08d', offset + sent) .. parts[2]
  end
  return parts
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local accepted = threads[1]:get('text') == '' and summary.requests - errors.status or threads[1]:get('accepted')
  print(string.format(
    '{"sent":%d,"answered":%d,"accepted":%d,"micros":%d,"p50":%g,"p99":%g,"failed":%d}',
    threads[1]:get('sent'), summary.requests, accepted, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, failed))
end
