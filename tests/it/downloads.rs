//! Downloads from a server of this test that breaks, lies and forgets, on the loopback interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ngcc::fetch::download::{DownloadError, Patience, Pinned, download};
use ngcc::package::sha256_of;

/// How the server answers one request after the other; the last way serves all further ones.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As it should be, ranges included.
    Right,
    /// The whole, whatever was asked for.
    NoRanges,
    /// Breaks the connection after so many bytes of the body.
    Breaks(usize),
    /// An answer without content.
    Status(u16),
    /// Sends so many bytes of the body and then nothing, with the connection open.
    Stalls(usize),
}

/// A server, and the `Range` headers it has seen (empty for none).
#[derive(Debug)]
struct Server {
    url: String,
    ranges: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(body: Vec<u8>, ways: &'static [Way]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/A%2B.zip", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&ranges);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let mut range = String::new();
                for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                    let line = line.unwrap();
                    if line.is_empty() {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                        range = value.to_owned();
                    }
                }
                seen.lock().unwrap().push(range.clone());
                let way = ways[number.min(ways.len() - 1)];
                let start: usize = range.trim_end_matches('-').parse().unwrap_or(0);
                let (head, from, to) = match way {
                    Way::Status(code) => (format!("HTTP/1.1 {code} Odd\r\n"), 0, 0),
                    Way::NoRanges => ("HTTP/1.1 200 OK\r\n".to_owned(), 0, body.len()),
                    Way::Right | Way::Breaks(_) | Way::Stalls(_) if start > 0 => {
                        let end = body.len() - 1;
                        let range = format!("Content-Range: bytes {start}-{end}/{}", body.len());
                        let head = format!("HTTP/1.1 206 Partial Content\r\n{range}\r\n");
                        (head, start, body.len())
                    }
                    Way::Right | Way::Breaks(_) | Way::Stalls(_) => {
                        ("HTTP/1.1 200 OK\r\n".into(), 0, body.len())
                    }
                };
                let length = to - from;
                let text = format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all(text.as_bytes());
                let sent = match way {
                    Way::Breaks(after) | Way::Stalls(after) => after.min(length),
                    Way::Right | Way::NoRanges | Way::Status(_) => length,
                };
                let _ = stream.write_all(&body[from..from + sent]);
                if let Way::Stalls(_) = way {
                    silent.push(stream);
                }
            }
        });
        Self { url, ranges }
    }

    fn ranges(&self) -> Vec<String> {
        self.ranges.lock().unwrap().clone()
    }
}

fn body() -> Vec<u8> {
    (0..300_000_u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()).collect()
}

fn patience() -> Patience {
    Patience { tries: 3, pause: Duration::from_millis(1), silence: Duration::from_secs(5) }
}

/// Downloads the body from a server; the result, and what is in the part file afterwards.
fn fetch(server: &Server, part: &std::path::Path) -> (Result<(), DownloadError>, Vec<u8>) {
    let body = body();
    let (sha256, bytes) = sha256_of(&body[..]).unwrap();
    let pinned = Pinned { url: &server.url, sha256: &sha256, bytes };
    let result = download(pinned, part, patience(), &mut |_| true);
    let mut left = Vec::new();
    std::fs::File::open(part).unwrap().read_to_end(&mut left).unwrap();
    (result, left)
}

#[test]
fn a_broken_download_goes_on_where_it_broke() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let server = Server::start(body(), &[Way::Breaks(500_000), Way::Breaks(1000), Way::Right]);
    let (result, left) = fetch(&server, &part);
    result.unwrap();
    assert!(left == body());
    assert_eq!(server.ranges(), ["", "500000-", "501000-"]);
}

#[test]
fn what_an_interrupted_download_got_is_used_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let server = Server::start(body(), &[Way::Right]);
    let (sha256, bytes) = sha256_of(&body()[..]).unwrap();
    let pinned = Pinned { url: &server.url, sha256: &sha256, bytes };
    let stop = download(pinned, &part, patience(), &mut |have| have < 400_000);
    let Err(DownloadError::Interrupted(have)) = stop else { panic!("{stop:?}") };
    assert_eq!(std::fs::metadata(&part).unwrap().len(), have);
    let (result, left) = fetch(&server, &part);
    result.unwrap();
    assert!(left == body());
    assert_eq!(server.ranges()[1], format!("{have}-"));
}

#[test]
fn a_server_without_ranges_makes_it_begin_again() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let server = Server::start(body(), &[Way::Breaks(700_000), Way::NoRanges]);
    let (result, left) = fetch(&server, &part);
    result.unwrap();
    assert!(left == body());
}

#[test]
fn other_content_is_refused_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let mut other = body();
    other[5] ^= 1;
    let (result, left) = fetch(&Server::start(other, &[Way::Right]), &part);
    assert!(matches!(result, Err(DownloadError::Digest { .. })), "{result:?}");
    assert!(left.is_empty());
    let mut longer = body();
    longer.push(0);
    let (result, left) = fetch(&Server::start(longer, &[Way::Right]), &part);
    assert!(matches!(result, Err(DownloadError::TooLong { .. })), "{result:?}");
    assert!(left.is_empty());
    // A page that says it was not found is short and has another digest; its status says it better.
    let (result, _) = fetch(&Server::start(body(), &[Way::Status(404)]), &part);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("answered 404"), "{text}");
}

#[test]
fn a_server_that_never_delivers_is_given_up_and_what_came_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let server = Server::start(body(), &[Way::Breaks(9), Way::Status(503)]);
    let (result, left) = fetch(&server, &part);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("503") && text.contains("9 bytes are kept"), "{text}");
    assert_eq!((left.len(), server.ranges().len()), (9, 4));
    // Too much left by another pin is no beginning of this one.
    std::fs::write(&part, vec![0; body().len() + 1]).unwrap();
    let (result, left) = fetch(&Server::start(body(), &[Way::Right]), &part);
    result.unwrap();
    assert!(left == body());
}

#[test]
fn a_server_that_falls_silent_is_asked_again_and_given_up_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("part");
    let (sha256, bytes) = sha256_of(&body()[..]).unwrap();
    let patience = Patience { tries: 2, silence: Duration::from_millis(300), ..patience() };
    let begun = std::time::Instant::now();
    for (ways, whole) in
        [(&[Way::Stalls(700_000)][..], true), (&[Way::Stalls(9), Way::Stalls(0)], false)]
    {
        let _ = std::fs::remove_file(&part);
        let server = Server::start(body(), ways);
        let pinned = Pinned { url: &server.url, sha256: &sha256, bytes };
        let result = download(pinned, &part, patience, &mut |_| true);
        assert_eq!(result.is_ok(), whole, "{result:?}");
        let kept = std::fs::read(&part).unwrap();
        assert!(if whole { kept == body() } else { kept == body()[..9] }, "{} bytes", kept.len());
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
