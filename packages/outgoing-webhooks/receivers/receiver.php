<?php
// php -S 127.0.0.1:8000 receiver.php
$key = base64_decode(substr(getenv('SECRET'), strlen('whsec_')));
$header = fn (string $name): string => $_SERVER["HTTP_WEBHOOK_$name"] ?? '';
[$id, $at, $signatures] = [$header('ID'), $header('TIMESTAMP'), $header('SIGNATURE')];
$body = file_get_contents('php://input');
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $key, true));
$signed = array_filter(explode(' ', $signatures), fn (string $signature): bool => hash_equals($expected, $signature));
if ($key === '' || !$signed || !ctype_digit($at) || abs(time() - (int) $at) >= 300) {
    http_response_code(401);
    exit;
}
http_response_code(204);
$event = json_decode($body, true);
error_log($event['type']);
